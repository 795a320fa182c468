import { Context } from '@temporalio/activity'

/** Inside an activity: tells that it was asked to stop, or that its worker stops. */
export const activitySignal = (): AbortSignal => Context.current().cancellationSignal
