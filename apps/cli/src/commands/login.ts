import { readFile } from 'node:fs/promises'

import {
  addAccessToken,
  cloudByToken,
  cloudOrigin,
  logIn,
  logOut,
  type CloudAddress,
} from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { attribute } from '@skerry/xml'

import { failureOf } from '../cloud-failure.ts'
import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { rowOf } from '../profile-row.ts'
import { profileIn, requireProfileName, withProfile, type Profile } from '../profiles.ts'
import { showProgress } from '../progress.ts'
import { revokeToken } from '../revoke-token.ts'

export const login = command({
  name: 'login',
  asks: 'nobody',
  usage: 'PROFILE [URL]',
  summary: 'log in to a cloud, keep it as a profile, and make that the active one',
  examples: [
    'skerry login work https://cloud.example --user bob@blue',
    'skerry login lab https://127.0.0.1:8443 --user alice@eng --ca lab.pem --workflow https://127.0.0.1:8281',
    'skerry login work',
  ],
  next: 'skerry list; skerry use local goes back to the VMs of this machine',
  options: {
    user: { type: 'string', value: 'USER@ORG', doc: 'who logs in; as last time unless told' },
    ca: { type: 'string', value: 'FILE', doc: 'trust the certificates in this file too' },
    workflow: { type: 'string', value: 'URL', doc: 'where the cloud’s workflow server answers' },
    vdc: { type: 'string', value: 'VDC', doc: 'the data centre for new VMs, of several' },
    session: {
      type: 'boolean',
      doc: 'keep a session that is over after half an hour, instead of a token until skerry logout',
    },
    'token-stdin': {
      type: 'boolean',
      doc: 'take a token that was made before from standard input, instead of a password',
    },
  },
  async run(world, { words: [name = '', url], options, json }) {
    requireProfileName(name)
    const known = await world.profiles.read()
    const before = profileIn(known, name)
    const address = url ?? before?.url
    const user = options.user ?? before?.user
    if (address === undefined) {
      throw new Failure('refused', 'URL is missing: nobody has logged in by this name before', {
        hint: `such as: skerry login ${name} https://cloud.example --user USER@ORG`,
      })
    }
    const at = await addressOf(address, options.ca, before)
    const { workflow = before?.workflow, vdc = before?.vdc } = options
    const proof = await prove(world, at, {
      ...{ name, user, byToken: options['token-stdin'] === true },
      session: options.session === true,
    })
    const more = { ...(workflow !== undefined && { workflow }), ...(vdc !== undefined && { vdc }) }
    const profile: Profile = { ...at, ...proof, ...more }
    await world.profiles.write(withProfile(known, name, profile, name))
    if (before) await revokeToken(before)
    if (json) return world.print(JSON.stringify(rowOf(name, name, profile), null, 2))
    return world.print(`${profile.user} is logged in to ${name}, which is the active profile now`)
  },
})

async function addressOf(
  url: string,
  file: string | undefined,
  before: Profile | undefined,
): Promise<CloudAddress & { readonly ca?: string }> {
  const { origin } = asUsage(() => cloudOrigin(url))
  if (file === undefined) {
    // What was trusted for one address is not trusted for another.
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

interface Asked {
  readonly name: string
  readonly user: string | undefined
  readonly byToken: boolean
  readonly session: boolean
}

type Proof = Pick<Profile, 'user' | 'token' | 'tokenHref'>

/** What a profile shows from now on; the password is kept nowhere. */
async function prove(world: World, at: CloudAddress, asked: Asked): Promise<Proof> {
  try {
    return asked.byToken ? await byToken(world, at) : await byPassword(world, at, asked)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.kind === 'unauthenticated') {
      const hint = asked.byToken
        ? 'a token may have been revoked; log in by --user USER@ORG'
        : 'is it USER@ORG, and the password right? an administrator can set a new one'
      throw new Failure('refused', error.message, { cause: error, hint })
    }
    throw failureOf(error, { name: asked.name, profile: { ...at, user: '', token: '' } })
  }
}

async function byToken({ readSecret }: World, at: CloudAddress): Promise<Proof> {
  const token = (await readSecret('token: ')).trim()
  const session = await cloudByToken(at, token).session()
  return { token, user: `${attribute(session, 'user')}@${attribute(session, 'org')}` }
}

async function byPassword(world: World, at: CloudAddress, asked: Asked): Promise<Proof> {
  const { user, session } = asked
  if (user === undefined || !user.includes('@')) {
    throw new Failure('refused', 'it is not said who logs in', { hint: 'give --user USER@ORG' })
  }
  const password = await world.readSecret(`password of ${user}: `)
  return showProgress(world, `logging in to ${at.url}`, async () => {
    const token = await logIn(at, user, password)
    if (session) return { user, token }
    const cloud = cloudByToken(at, token)
    const made = await addAccessToken(cloud, `skerry on ${world.machineName}`)
    await logOut(cloud)
    return { user, token: made.token, tokenHref: made.href }
  })
}
