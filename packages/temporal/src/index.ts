// @skerry/temporal: connects, works, keeps schedules. Code that Temporal replays does not come here: it reads a failure's type.
export { activitySignal, isActivityCanceled } from './activity-signal.ts'
export {
  connectTemporal,
  isAlreadyStarted,
  isNoRun,
  type TemporalClient,
  type TemporalOptions,
} from './connect.ts'
export { BUG, fromFailure, toFailure } from './failure.ts'
export { ensureNamespace, type NamespaceOptions } from './namespace.ts'
export { replayHistory, type Replay } from './replay.ts'
export {
  bundleWorkflows,
  runWorker,
  type NearClient,
  type RunningWorker,
  type WorkerOptions,
} from './run-worker.ts'
export { ensureSchedule, type Schedule } from './schedules.ts'
