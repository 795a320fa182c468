import type { OrgId, TaskId, UserId } from '@skerry/vm'

import type { Time } from './column-types.ts'

/** Keys of requests that were accepted. */
export interface RequestKeyTable {
  org: OrgId
  account: UserId
  key: string
  body_hash: Buffer
  /** The id for the task of the request. */
  task: TaskId
  /** What a request without a task made. */
  made: string | null
  made_at: Time
}
