// @skerry/serverless-workflow/interpreter: the part that runs definitions, without parser, schema and drawing. It computes the same from
// the same results, and reads no clock and no file: Temporal can replay it.
export { interpret, type RunEnd } from './interpreter/interpret.ts'
export { ERROR_TYPES, problem, Raised, usedUp, type ProblemKind } from './interpreter/problem.ts'
export {
  newState,
  RUN_LIMITS,
  type Limits,
  type RunState,
  type Runtime,
} from './interpreter/scope.ts'
export { executionStates, type ExecutionState, type RunInput } from './interpreter/states.ts'
export { RunStopped, Stop, type StopWord } from './interpreter/stop.ts'
export type {
  AskNote,
  ChildRun,
  FunctionCall,
  HttpAnswer,
  HttpCall,
  Json,
  JsonObject,
  LoadedRun,
  Problem,
  RunEvent,
  RunProgress,
  SecureReference,
  StepNote,
} from './interpreter/verbs.ts'
