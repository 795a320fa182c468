// An app whose codes a login with a password needs. An API token needs none, and may not change them: then the password is asked for.
import { cloudByToken, isAccessToken, linkTo, logOut, type Cloud } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { qrCode } from '@skerry/command-line/qr-code'
import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { sessionIn } from '../../cloud/session-in.ts'
import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { qrBlocks } from '../../terminal/qr-blocks.ts'
import {
  codeOption,
  codesOf,
  logInByPassword,
  withCode,
  type ReadCode,
} from './log-in-by-password.ts'
import {
  readSecondFactors,
  SECOND_FACTORS,
  type ListedSecondFactor,
} from './read-second-factors.ts'

const columns: readonly TableColumn<ListedSecondFactor>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'KIND', cell: ({ kind }) => kind },
  {
    head: 'STATE',
    cell: ({ confirmed }) => (confirmed ? 'confirmed' : 'not confirmed'),
    colour: ({ confirmed }) => (confirmed ? undefined : 'yellow'),
  },
  { head: 'CREATED', cell: ({ made }) => made },
  { head: 'LAST USED', cell: ({ used }) => used ?? 'never' },
]

/** Attempts to type the code of a new second factor. */
const ATTEMPTS = 3

/** Runs the work in a session that began with a password. */
async function asPerson<Result>(
  context: CliContext,
  readCode: ReadCode,
  work: (cloud: Cloud) => Promise<Result>,
): Promise<Result> {
  const { profile, cloud } = sessionIn(context)
  if (profile.tokenHref === undefined && !isAccessToken(profile.token)) return work(cloud)
  const { user } = profile
  const password = await context.readSecret(`password of ${user}: `)
  const token = await logInByPassword(context, profile, { user, password }, readCode)
  const own = cloudByToken(profile, token)
  try {
    return await work(own)
  } finally {
    // Otherwise it ends by itself in 30 minutes.
    await logOut(own).catch(() => undefined)
  }
}

const textIn = (document: Element | undefined, name: string): string =>
  text(childrenByLocalName(document, name)[0]) ?? ''

const codesIn = (document: Element | undefined): readonly string[] =>
  childrenByLocalName(document, 'Code').map((each) => text(each) ?? '')

const codeLines = (codes: readonly string[]): string =>
  [
    'recovery codes, shown only now; each counts once, instead of a code of the app:',
    ...codes.map((code) => `  ${code}`),
  ].join('\n')

/** Asks for the code of the new second factor, again after a wrong one. Returns the recovery codes. */
async function confirm(
  context: CliContext,
  cloud: Cloud,
  made: Element,
): Promise<readonly string[]> {
  const href = linkTo(made, 'confirm')
  for (let attempt = 1; ; attempt += 1) {
    const code = (await context.readSecret('code that the app shows: ')).trim()
    try {
      if (code === '') throw new Failure('refused', 'no code entered')
      const body = element('SecondFactorCode', { code })
      return codesIn(await cloud.act('POST', href, { body }))
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'invalid' || attempt === ATTEMPTS) {
        await cloud.act('DELETE', attribute(made, 'href') ?? '').catch(() => undefined)
        throw error
      }
      context.complain('the code is wrong; type the one that the app shows now')
    }
  }
}

const add = command({
  name: 'second-factor add',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'add an app whose codes your logins with a password need from then on',
  examples: ['skerry second-factor add phone'],
  next: 'keep the recovery codes where the app is not; skerry second-factor list',
  options: codeOption,
  async run(context, { words: [name = ''], options, json }) {
    const readCode = codesOf(context, options.code)
    const recoveryCodes = await asPerson(context, readCode, async (cloud) => {
      const body = element('SecondFactorParams', { name })
      const made = await withCode(readCode, async (code) =>
        cloud.act('POST', SECOND_FACTORS, { body, ...(code !== undefined && { code }) }),
      )
      if (!made) throw new Failure('refused', 'the cloud returned no second factor')
      // The result of --json is on standard output alone.
      const show = json ? context.complain : context.print
      show(qrBlocks(qrCode(textIn(made, 'Address')), context.colours))
      show(`read the QR code with the app, or type its secret: ${textIn(made, 'Secret')}`)
      return confirm(context, cloud, made)
    })
    if (json) return context.print(JSON.stringify({ name, recoveryCodes }, null, 2))
    context.print(`second factor ${name} is confirmed`)
    if (recoveryCodes.length > 0) context.print(codeLines(recoveryCodes))
  },
})

const list = command({
  name: 'second-factor list',
  asks: 'cloud',
  usage: '',
  summary: 'list your second factors, and how many recovery codes are left',
  examples: ['skerry second-factor list'],
  next: 'skerry second-factor add NAME adds one',
  async run(context, { json }) {
    const { factors, recoveryCodesLeft, required } = await readSecondFactors(
      sessionIn(context).cloud,
    )
    if (json) {
      return context.print(JSON.stringify({ factors, recoveryCodesLeft, required }, null, 2))
    }
    context.print(renderTable(columns, factors, context.colours))
    context.print(`recovery codes left: ${recoveryCodesLeft}`)
    if (required) context.print('your organisation requires a second factor')
  },
})

const rm = command({
  name: 'second-factor rm',
  asks: 'cloud',
  usage: 'NAME',
  summary: 'remove a second factor of yours; with the last one, the recovery codes end',
  examples: ['skerry second-factor rm phone'],
  next: 'skerry second-factor list lists the others',
  options: codeOption,
  async run(context, { words: [name = ''], options, json }) {
    const { document } = await readSecondFactors(sessionIn(context).cloud)
    const found = childrenByLocalName(document, 'SecondFactor').find(
      (each) => attribute(each, 'name') === name,
    )
    if (!found) {
      throw new Failure('refused', `there is no second factor ${name}`, {
        hint: 'skerry second-factor list lists them',
      })
    }
    const readCode = codesOf(context, options.code)
    await asPerson(context, readCode, async (cloud) =>
      withCode(readCode, async (code) =>
        cloud.act('DELETE', attribute(found, 'href') ?? '', code === undefined ? {} : { code }),
      ),
    )
    context.print(
      json ? JSON.stringify({ removed: name }, null, 2) : `second factor ${name} is removed`,
    )
  },
})

const replaceCodes = command({
  name: 'second-factor recovery-codes',
  asks: 'cloud',
  usage: '',
  summary: 'make ten new recovery codes and print them; earlier ones end',
  examples: ['skerry second-factor recovery-codes'],
  next: 'keep them where the app is not; skerry login NAME --code CODE uses one',
  options: codeOption,
  async run(context, { options, json }) {
    const { factors } = await readSecondFactors(sessionIn(context).cloud)
    if (!factors.some(({ confirmed }) => confirmed)) {
      throw new Failure('refused', 'you have no second factor', {
        hint: 'skerry second-factor add NAME adds one, with recovery codes',
      })
    }
    const readCode = codesOf(context, options.code)
    const recoveryCodes = await asPerson(context, readCode, async (cloud) => {
      const { document } = await readSecondFactors(cloud)
      const href = linkTo(document, 'replaceRecoveryCodes')
      return codesIn(
        await withCode(readCode, async (code) =>
          cloud.act('POST', href, code === undefined ? {} : { code }),
        ),
      )
    })
    context.print(json ? JSON.stringify({ recoveryCodes }, null, 2) : codeLines(recoveryCodes))
  },
})

export const secondFactor = [add, list, rm, replaceCodes]
