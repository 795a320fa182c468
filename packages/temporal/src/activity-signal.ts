import { Context } from '@temporalio/activity'

/** Inside an activity: tells that it was asked to stop, or that its worker stops. */
export const activitySignal = (): AbortSignal => Context.current().cancellationSignal

/** Inside an activity whose signal was given: whether it was asked to stop for good, and not only to go on at another worker. */
export const isActivityCanceled = (): boolean =>
  Context.current().cancellationDetails?.cancelRequested === true
