import { readFile } from 'node:fs/promises'

import {
  addAccessToken,
  beginDeviceLogin,
  cloudByToken,
  cloudOrigin,
  isAccessToken,
  logIn,
  logOut,
  takeDeviceToken,
  type AccessToken,
  type Cloud,
  type CloudAddress,
} from '@skerry/cloud-client'
import { Fault, retryableKinds } from '@skerry/fault'
import { attribute } from '@skerry/xml'

import { failureOf } from '../../cloud/failure.ts'
import { revokeToken } from '../../cloud/revoke-token.ts'
import { command, type CliContext } from '../../command.ts'
import { openBrowser } from '../../machine/open-browser.ts'
import { rowOf } from '../../profiles/profile-row.ts'
import {
  profileIn,
  requireProfileName,
  withProfile,
  type Profile,
} from '../../profiles/profiles.ts'
import { Failure } from '../../terminal/failure.ts'
import { showProgress } from '../../terminal/progress.ts'
import { codeOption, codesOf, logInByPassword } from './log-in-by-password.ts'
import { readSecondFactors } from './read-second-factors.ts'

export const login = command({
  name: 'login',
  asks: 'none',
  usage: 'PROFILE [URL]',
  summary: 'log in to a cloud, save it as a profile and make that the active one',
  examples: [
    'skerry login work https://cloud.example',
    'skerry login work https://cloud.example --user bob@blue',
    'skerry login lab https://127.0.0.1:8443 --user alice@eng --ca lab.pem --workflow https://127.0.0.1:8281',
    'skerry login work',
  ],
  next: 'skerry list; skerry use local switches back to the VMs of this machine',
  options: {
    user: {
      type: 'string',
      value: 'USER@ORG',
      doc: 'log in with the password of this user (default: as at the last login; without one, a person allows it in a browser)',
    },
    browser: {
      type: 'boolean',
      doc: 'let a person allow it in a browser, also if a user is known',
    },
    ca: { type: 'string', value: 'FILE', doc: 'file of additional CA certificates to trust' },
    workflow: { type: 'string', value: 'URL', doc: 'URL of the workflow server of the cloud' },
    vdc: { type: 'string', value: 'VDC', doc: 'data centre for new VMs, if there are several' },
    session: {
      type: 'boolean',
      doc: 'keep only a session, which expires after 30 minutes, instead of a token valid until skerry logout',
    },
    'token-stdin': {
      type: 'boolean',
      doc: 'read an existing token from standard input instead of a password',
    },
    ...codeOption,
  },
  async run(context, { words: [name = '', url], options, json }) {
    requireProfileName(name)
    const known = await context.profiles.read()
    const before = profileIn(known, name)
    const address = url ?? before?.url
    const user = options.browser === true ? options.user : (options.user ?? before?.user)
    if (address === undefined) {
      throw new Failure('refused', `URL is missing: there is no profile ${name} yet`, {
        hint: `e.g. skerry login ${name} https://cloud.example`,
      })
    }
    const at = await addressOf(address, options.ca, before)
    const { workflow = before?.workflow, vdc = before?.vdc } = options
    const { isLimited, ...proof } = await prove(context, at, {
      name,
      user,
      codes: options.code,
      byToken: options['token-stdin'] === true,
      session: options.session === true,
    })
    const more = { ...(workflow !== undefined && { workflow }), ...(vdc !== undefined && { vdc }) }
    const profile: Profile = { ...at, ...proof, ...more }
    await context.profiles.write(withProfile(known, name, profile, name))
    if (before) await revokeToken(before)
    if (isLimited) {
      context.complain(
        'this organisation requires a second factor: until then you may only add one',
      )
      context.complain(`next: skerry second-factor add phone, then skerry login ${name}`)
    }
    if (json) return context.print(JSON.stringify(rowOf(name, name, profile), null, 2))
    return context.print(`${profile.user} is logged in to ${name}, now the active profile`)
  },
})

async function addressOf(
  url: string,
  file: string | undefined,
  before: Profile | undefined,
): Promise<CloudAddress & { readonly ca?: string }> {
  const { origin } = asUsage(() => cloudOrigin(url))
  if (file === undefined) {
    // Certificates trusted for one address are not trusted for another.
    const ca = before?.url === origin ? before.ca : undefined
    return ca === undefined ? { url: origin } : { url: origin, ca }
  }
  const ca = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Failure('refused', `${file} cannot be read`, { cause })
  })
  return { url: origin, ca }
}

function asUsage<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw cause instanceof Fault ? new Failure('usage', cause.message, { cause }) : cause
  }
}

interface LoginRequest {
  readonly name: string
  readonly user: string | undefined
  readonly byToken: boolean
  readonly session: boolean
  /** Of the second factor. */
  readonly codes: readonly string[] | undefined
}

type Proof = Pick<Profile, 'user' | 'token' | 'tokenHref'> & {
  /** The user may only add a second factor. */
  readonly isLimited?: boolean
}

/** The credentials that a profile stores; the password is never stored. */
async function prove(
  context: CliContext,
  at: CloudAddress,
  requested: LoginRequest,
): Promise<Proof> {
  try {
    return requested.byToken ? await byToken(context, at) : await byPassword(context, at, requested)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.kind === 'unauthenticated') {
      const hint = requested.byToken
        ? 'the token may have been revoked; log in with --user USER@ORG'
        : 'check USER@ORG and the password, the code if it was asked for, or the token; an administrator can set a new password'
      throw new Failure('refused', error.message, { cause: error, hint })
    }
    throw failureOf(error, { name: requested.name, profile: { ...at, user: '', token: '' } })
  }
}

async function byToken({ readSecret }: CliContext, at: CloudAddress): Promise<Proof> {
  const token = (await readSecret('token: ')).trim()
  const session = await cloudByToken(at, token).session()
  return { token, user: `${attribute(session, 'user')}@${attribute(session, 'org')}` }
}

/** A token that was typed as the password is stored as it is: a token cannot create others. */
async function ownToken(at: CloudAddress, user: string, token: string): Promise<Proof> {
  await logOut(cloudByToken(at, await logIn(at, user, token)))
  return { user, token }
}

async function byPassword(
  context: CliContext,
  at: CloudAddress,
  requested: LoginRequest,
): Promise<Proof> {
  const { user, session } = requested
  if (user === undefined && !session) return byBrowser(context, at)
  if (user === undefined || !user.includes('@')) {
    throw new Failure('refused', 'no user given', { hint: 'give --user USER@ORG' })
  }
  const password = await context.readSecret(`password of ${user}: `)
  if (isAccessToken(password)) return ownToken(at, user, password)
  const readCode = codesOf(context, requested.codes)
  const token = await logInByPassword(context, at, { user, password }, readCode)
  const cloud = cloudByToken(at, token)
  if (session) return { user, token }
  return showProgress(context, `logging in to ${at.url}`, async () => {
    try {
      const made = await addAccessToken(cloud, `skerry on ${context.machineName}`)
      await logOut(cloud)
      return { user, token: made.token, tokenHref: made.href }
    } catch (error) {
      if (error instanceof Fault && error.kind === 'forbidden' && (await isLimited(cloud))) {
        return { user, token, isLimited: true }
      }
      throw error
    }
  })
}

/** Whether the organisation requires a second factor, and the user has none. */
async function isLimited(cloud: Cloud): Promise<boolean> {
  const { required, factors } = await readSecondFactors(cloud)
  return required && !factors.some(({ confirmed }) => confirmed)
}

/** Works with every way to log in that the cloud has. The code is compared, so that a user does not allow the program of someone else. */
async function byBrowser(context: CliContext, at: CloudAddress): Promise<Proof> {
  const asked = await beginDeviceLogin(at, `skerry on ${context.machineName}`)
  context.complain(`open ${asked.page} and enter ${asked.code}`)
  if (context.browser !== undefined) await openBrowser(context, asked.pageWithCode)
  const until = context.now() + asked.expiresMs
  let { intervalMs } = asked
  let failure: Fault | undefined
  // Code and token stay valid while the cloud is away for a moment.
  const orAway = <T>(answer: Promise<T>): Promise<T | 'away'> =>
    answer.catch((error: unknown) => {
      const isBrief = error instanceof Fault && retryableKinds.has(error.kind)
      if (!isBrief || error.detail === 'certificate') throw error
      failure = error
      return 'away'
    })
  return showProgress(context, 'waiting for the browser', async () => {
    let made: AccessToken | undefined
    while (context.now() < until) {
      await context.wait(intervalMs)
      if (!made) {
        const given = await orAway(takeDeviceToken(at, asked.device))
        if (given === 'away') continue
        if (given === 'over') break
        failure = undefined
        if (given === 'denied') throw new Failure('refused', 'the login was refused in the browser')
        if (given === 'slow-down') intervalMs += asked.intervalMs
        if (given === 'slow-down' || given === 'pending') continue
        made = given
      }
      const session = await orAway(cloudByToken(at, made.token).session())
      if (session === 'away') continue
      const user = `${attribute(session, 'user')}@${attribute(session, 'org')}`
      return { user, token: made.token, tokenHref: made.href }
    }
    if (failure) throw failure
    throw new Failure('refused', 'the login was not allowed in time', { hint: 'run it again' })
  })
}
