/** Why a task may wait: the reason's name, a text that follows "waits for", and the next action. `{task}` and `{time}` are filled in. */
export interface WaitReason {
  readonly name: string
  readonly words: string
  readonly next: string
}

const askAdministrator = 'ask an administrator of the cloud, or cancel the task: skerry task cancel'

/** All reasons, the most general first: a task shows the first that applies (`task_wait` in migrations/0001-cloud.sql). */
export const waitReasons = [
  {
    name: 'turn',
    words: 'its turn: task {task} on the same VM comes first',
    next: 'skerry task info {task} shows the progress of that task',
  },
  {
    name: 'order',
    words: 'its turn: task {task} is part of the same request and comes first',
    next: 'skerry task info {task} shows the progress of that task',
  },
  {
    name: 'source',
    words: 'the VM that it copies: task {task} on that VM comes first',
    next: 'skerry task info {task} shows the progress of that task',
  },
  {
    name: 'source-host',
    words: 'the host of the VM that it copies, which has not been reached since {time}',
    next: `an administrator checks that host: skerry host list; ${askAdministrator}`,
  },
  {
    name: 'host-out',
    words: 'its host, which was removed from the cloud',
    next: `an administrator lets the host join again or declares it lost; ${askAdministrator}`,
  },
  {
    name: 'host-quarantine',
    words: 'its host, which is in quarantine until an administrator decides',
    next: `an administrator reads the reason: skerry host list --json; ${askAdministrator}`,
  },
  {
    name: 'host-silent',
    words: 'its host, which has not been reached since {time}',
    next: `an administrator checks that host: skerry host list; ${askAdministrator}`,
  },
  {
    name: 'pending-undo',
    words: 'the undo of an earlier task on this VM, which its host has not executed yet',
    next: 'no action is needed: it continues when the host has done that',
  },
  {
    name: 'claim',
    words: 'the claim of another worker on this VM, which lasts until {time}',
    next: 'no action is needed: it continues when that worker releases its claim or the claim expires',
  },
  {
    name: 'host-limit',
    words: 'its host, which already runs its maximum number of tasks',
    next: 'no action is needed: it continues when one of those tasks has ended',
  },
  {
    name: 'org-limit',
    words: 'its organisation, which already runs its maximum number of tasks',
    next: 'no action is needed: it continues when one of those tasks has ended',
  },
  {
    name: 'worker',
    words: 'a worker: none has claimed it yet',
    next: `an administrator checks that the cells and Temporal run; ${askAdministrator}`,
  },
  {
    name: 'room',
    words: 'capacity: no reachable host has enough, but a host that was seen recently may',
    next: `an administrator checks the hosts: skerry host list; ${askAdministrator}`,
  },
  {
    name: 'retry',
    words: 'the next attempt of a step that failed',
    next: `see the last failure; ${askAdministrator}`,
  },
] as const satisfies readonly WaitReason[]

export type WaitReasonName = (typeof waitReasons)[number]['name']
