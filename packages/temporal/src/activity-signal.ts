import { Context } from '@temporalio/activity'

/** Inside an activity: aborted when the activity is canceled or its worker stops. */
export const activitySignal = (): AbortSignal => Context.current().cancellationSignal

/** Inside an activity whose signal was aborted: whether it was canceled for good, not only to continue at another worker. */
export const isActivityCanceled = (): boolean =>
  Context.current().cancellationDetails?.cancelRequested === true
