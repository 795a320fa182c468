/** What can be asked for by GET /api/query?type=…: the record's element and its attributes. */
export interface RecordType {
  readonly name: string
  readonly element: string
  /** Attribute → column of the view that it is read from. */
  readonly fields: Readonly<Record<string, { readonly column: string; readonly ordered?: true }>>
}

export const recordTypes = {
  vm: {
    name: 'vm',
    element: 'VMRecord',
    fields: {
      name: { column: 'name' },
      containerName: { column: 'container_name' },
      status: { column: 'shown' },
      numberOfCpus: { column: 'cpus', ordered: true },
      memoryMB: { column: 'memory_mib', ordered: true },
      isBusy: { column: 'is_busy' },
    },
  },
} as const satisfies Record<string, RecordType>

export type RecordTypeName = keyof typeof recordTypes
