// @skerry/temporal: client, worker, schedules. Replayed workflow code does not import this; it reads a failure's type.
export { activitySignal, isActivityCanceled } from './activity-signal.ts'
export { bundleWorkflows, keepBundle } from './bundle.ts'
export {
  connectTemporal,
  isAlreadyStarted,
  isNoRun,
  type TemporalClient,
  type TemporalOptions,
} from './connect.ts'
export type { NamespaceOptions } from './namespace.ts'
export { isReached } from './reached.ts'
export { replayHistory, type Replay } from './replay.ts'
export { runWorker, type NearClient, type RunningWorker, type WorkerOptions } from './run-worker.ts'
export { ensureSchedule, type Schedule } from './schedules.ts'
export { certificatesFor, type Certificates, type TlsSetting } from './tls.ts'
