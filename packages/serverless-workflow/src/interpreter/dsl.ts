// What the files in tasks/ use of the definition.
export {
  type Authentication,
  type CallFunctionTask,
  type CallHttpTask,
  type Catch,
  type EventFilter,
  type ForkTask,
  type ForTask,
  INTERACTION_EVENT,
  type Interaction,
  interactionOf,
  type ListenTask,
  listedTasks,
  type RaisedError,
  type RaiseTask,
  type Retry,
  type RunWorkflowTask,
  type SetTask,
  type SwitchTask,
  type TryTask,
  type WaitTask,
} from '../definition/task.ts'
export { durationMs } from '../definition/duration.ts'
export { isExpression } from '../definition/expression.ts'
