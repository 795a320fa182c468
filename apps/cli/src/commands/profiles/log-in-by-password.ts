import { logIn, type CloudAddress } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'

import type { CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { showProgress } from '../../terminal/progress.ts'

export const codeOption = {
  code: {
    type: 'string',
    value: 'CODE',
    multiple: true,
    doc: 'code of the second factor, or a recovery code (default: typed); give it again for a second one',
  },
} as const

/** Returns the next code of a second factor. */
export type ReadCode = () => Promise<string>

/** The codes that were given, in their order, then those that the user types. Each counts once. */
export function codesOf(context: CliContext, given: readonly string[] = []): ReadCode {
  let count = 0
  return async () => {
    const at = count
    count += 1
    const prompt = at === 0 ? 'code of the second factor: ' : 'the next code, each counts once: '
    const code = given[at] ?? (await context.readSecret(prompt)).trim()
    if (code !== '') return code
    throw new Failure('refused', 'no code of the second factor given', {
      hint: 'type it on a terminal, or give --code CODE',
    })
  }
}

/** Runs the work without a code, and with one where the cloud requires it. */
export async function withCode<Result>(
  readCode: ReadCode,
  work: (code?: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'second-factor') throw error
  }
  return work(await readCode())
}

/** Returns the token of a session. */
export const logInByPassword = (
  context: CliContext,
  at: CloudAddress,
  account: { readonly user: string; readonly password: string },
  readCode: ReadCode,
): Promise<string> =>
  withCode(readCode, async (code) =>
    showProgress(context, `logging in to ${at.url}`, async () =>
      logIn(at, account.user, account.password, code),
    ),
  )
