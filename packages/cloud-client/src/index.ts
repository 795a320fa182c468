export type { Ask, CloudAnswer, CloudRequest } from './ask.ts'
export { Cloud, linkOf, linkTo, NAMESPACE, pathOf, type Sent } from './cloud.ts'
export {
  metadataIn,
  vappIn,
  vmIn,
  type SeenSnapshot,
  type SeenVapp,
  type SeenVm,
} from './documents.ts'
export type { Grant } from './grant.ts'
export { inside, query, quoted, type Question, type Record } from './query.ts'
export { faultIn, reviveFault } from './revive-fault.ts'
export { cancelTask, taskIn, TaskFailed, waitTask, type EndedTask, type Waiting } from './tasks.ts'
