/** A VM in the full list view. */
export interface VmListRow {
  readonly id: string
  readonly name?: string
  readonly tag?: string
  readonly state: string
  readonly address?: string | null
  readonly cpus?: number
  readonly memoryMiB?: number
  readonly diskMiB?: number
  /** Only for VMs of a cloud. */
  readonly vapp?: string
  readonly org?: string
  readonly host?: string
  /** Further properties. */
  readonly [more: string]: string | number | boolean | null | undefined
}
