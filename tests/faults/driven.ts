import type { PowerCommand, PowerState } from '@skerry/vm'

/** The target of errands: an engine, or a daemon that has one. */
export interface Driven extends AsyncDisposable {
  createVm(requested: NewVm): Promise<unknown>
  cloneVm(requested: { readonly id: string; readonly parent: string }): Promise<unknown>
  /** In any power state. */
  deleteVm(id: string): Promise<unknown>
  listVms(): Promise<unknown>
  readVm(id: string): Promise<{ readonly sharing: boolean; readonly boot: string | null }>
  readStats(id: string): Promise<unknown>
  changePower(id: string, command: PowerCommand): Promise<unknown>
  readPower(id: string): Promise<PowerState>
  createSnapshot(id: string, requested: NewSnapshot): Promise<unknown>
  revertSnapshot(id: string, name: string): Promise<unknown>
  removeSnapshot(id: string, name: string): Promise<unknown>
  listSnapshots(id: string): Promise<readonly { readonly name: string }[]>
  enableSharing(id: string): Promise<unknown>
  addFolder(id: string, folder: NewFolder): Promise<unknown>
  removeFolder(id: string, guestPath: string): Promise<unknown>
  listFolders(id: string): Promise<readonly { readonly guestPath: string }[]>
  pingGuest(id: string): Promise<boolean>
  execInGuest(id: string, requested: Program): Promise<Ended>
  importTemplate(name: string, file: string): Promise<unknown>
  /** Ends it like a crash. */
  kill(): Promise<void>
  /** Its log lines, the newest last. */
  log(): string
}

export interface NewVm {
  readonly id: string
  readonly memoryMiB?: number
  readonly diskMiB?: number
}

export interface NewSnapshot {
  readonly name: string
  readonly memory: boolean
}

export interface NewFolder {
  readonly guestPath: string
  readonly hostPath: string
  readonly flags: 0 | 4
}

export interface Program {
  readonly path: string
  readonly args: readonly string[]
}

export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}
