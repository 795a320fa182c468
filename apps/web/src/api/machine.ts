// The local API of vmd: what it returns for this machine and its VMs. GET / of vmd describes it.
import { request, type RequestOptions } from './client.ts'

/** A row of GET /api/vms?view=full. */
export interface LocalVm {
  readonly id: string
  readonly name: string
  readonly tag: string
  readonly state: string
  /** Why it cannot be read; then the following are missing. */
  readonly problem?: string
  readonly pausedBy?: string
  readonly address?: string
  readonly cpus?: number
  readonly memoryMiB?: number
  readonly diskMiB?: number
  readonly autostart?: boolean
  readonly sharing?: boolean
  readonly bridge?: string
}

export interface LocalSnapshot {
  readonly name: string
  readonly createdAt: string
  readonly memory: boolean
  readonly current: boolean
}

export interface LocalFolder {
  readonly guestPath: string
  readonly hostPath: string
  /** 4: the guest may write; 0: it may not. */
  readonly flags: number
}

export interface LocalForward {
  readonly hostAddress: string
  readonly hostPort: number
  readonly guestPort: number
  readonly protocol: string
  readonly listening: boolean
}

export interface LocalTemplate {
  readonly name: string
  readonly digest: string
  readonly virtualBytes: number
  readonly fileBytes: number
}

export interface LocalOperation {
  readonly id: string
  readonly name: string
  readonly vm?: string
  readonly state: 'running' | 'succeeded' | 'failed'
  readonly progress: number
  readonly started: string
  readonly ended?: string
  readonly error?: { readonly message: string; readonly hint?: string }
}

export interface MachineState {
  readonly name: string
  readonly version: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly freeMemoryMiB: number
  readonly dataDirectory: string
  readonly storageMiB: number
  readonly freeStorageMiB: number
  readonly checks: readonly MachineCheck[]
}

export interface MachineCheck {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix?: string
}

export interface LocalHealth {
  readonly status: 'ok' | 'degraded'
  readonly libvirt: 'up' | 'down'
  readonly journal: 'up' | 'down'
  readonly reasons: readonly string[]
}

/** `localPath('vms', 'my vm')` is /api/vms/my%20vm. */
export const localPath = (...words: readonly string[]): string =>
  ['/api', ...words.map(encodeURIComponent)].join('/')

export const readLocalVms = (signal?: AbortSignal): Promise<readonly LocalVm[]> =>
  request('/api/vms?view=full', { signal })

export const localVmPath = (id: string): string => `/api/vms?view=full&id=${encodeURIComponent(id)}`

export const readLocalVm = async (id: string, signal?: AbortSignal): Promise<LocalVm | undefined> =>
  (await request<readonly LocalVm[]>(localVmPath(id), { signal }))[0]

/** Long work continues as an operation; undefined: it was done at once. */
export async function startOperation(
  path: string,
  options: RequestOptions,
): Promise<LocalOperation | undefined> {
  const answer = await request<Partial<LocalOperation> | undefined>(path, {
    ...options,
    headers: { prefer: 'respond-async' },
  })
  return answer?.started === undefined ? undefined : (answer as LocalOperation)
}
