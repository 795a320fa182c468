import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { showProgress } from '../terminal/progress.ts'
import type { ReportProgress } from '../terminal/report-progress.ts'
import type { Method } from '../vms/local-client.ts'

const POLL_MS = 300

/** An asynchronous operation of vmd, started with a 202 response. */
interface Operation {
  readonly state: 'running' | 'succeeded' | 'failed'
  /** From 0 to 100. */
  readonly progress?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly hint?: string }
}

type Working = Pick<CliContext, 'api' | 'wait'>

/**
 * Starts a long operation and returns its result. vmd responds when it is done, or with 202 and an operation, which is then
 * polled.
 */
export async function longWork<Result = unknown>(
  context: Working,
  report: ReportProgress,
  ...[method, path, body]: readonly [Method, string, object]
): Promise<Result> {
  const reply = await context.api.ask<Result>(method, path, { body, async: true })
  return reply.status === 202 && reply.location !== undefined
    ? ((await followOperation(context, reply.location, report)) as Result)
    : reply.body
}

/** The same, with a progress line. */
export async function doLongWork<Result = unknown>(
  context: CliContext,
  label: string,
  ...requested: readonly [Method, string, object]
): Promise<Result> {
  return showProgress(context, label, async (report) =>
    longWork<Result>(context, report, ...requested),
  )
}

async function followOperation(
  { api, wait }: Working,
  location: string,
  report: ReportProgress,
): Promise<unknown> {
  for (;;) {
    const { body } = await api.ask<Operation>('GET', location)
    if (body.state === 'succeeded') return body.result
    if (body.state === 'failed') {
      const { message = 'the operation failed', hint, code } = body.error ?? {}
      throw new Failure(code === 504 ? 'timedOut' : 'refused', message, { hint, body: body.error })
    }
    // An operation without progress stays at 0, which would look like a stuck bar.
    report(body.progress || undefined)
    await wait(POLL_MS)
  }
}
