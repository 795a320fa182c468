import { renderTable } from '@skerry/command-line'

import { revokeToken, type Revoked } from '../../cloud/revoke-token.ts'
import { command } from '../../command.ts'
import { profileColumns, rowOf, type ProfileRow } from '../../profiles/profile-row.ts'
import {
  LOCAL,
  profileIn,
  withoutProfile,
  type Profile,
  type Profiles,
} from '../../profiles/profiles.ts'
import { Failure } from '../../terminal/failure.ts'

const unrevoked: Readonly<Partial<Record<Revoked, string>>> = {
  away: 'does not respond: the token is deleted here, but not revoked there',
  kept: 'keeps the token, which was created for a script: it is only deleted here',
}

const logout = command({
  name: 'logout',
  asks: 'none',
  usage: '[PROFILE]',
  summary: 'log out and delete the profile (default: the active one)',
  examples: ['skerry logout', 'skerry logout work'],
  next: 'skerry login NAME logs in again; skerry profiles lists the others',
  async run({ profiles, print, complain }, { words: [word], json }) {
    const known = await profiles.read()
    const name = word ?? known.active
    const profile = profileNamed(known, name)
    const revoked = await revokeToken(profile)
    await profiles.write(withoutProfile(known, name))
    const why = unrevoked[revoked]
    if (why !== undefined) {
      complain(`${profile.url} ${why}`)
      complain('next: ask its administrator to revoke it: skerry admin token revoke')
    }
    const text = `${profile.user} is logged out of ${name}`
    const body = { profile: name, revoked: revoked === 'revoked' }
    print(json ? JSON.stringify(body, null, 2) : text)
  },
})

function profileNamed(known: Profiles, name: string): Profile {
  const profile = profileIn(known, name)
  if (profile) return profile
  const why =
    name === LOCAL ? 'local is this machine and needs no login' : `there is no profile ${name}`
  throw new Failure('refused', why, { hint: 'skerry profiles lists them' })
}

const profiles = command({
  name: 'profiles',
  asks: 'none',
  usage: '',
  summary:
    'list profiles: this machine and the clouds you are logged in to; * marks the active one',
  examples: ['skerry profiles'],
  next: 'skerry use PROFILE switches; --on PROFILE applies to one command',
  async run({ profiles: store, print, colours }, { json }) {
    const { active, clouds } = await store.read()
    const rows: readonly ProfileRow[] = [
      { name: LOCAL, active: active === LOCAL, url: 'vmd on this machine', user: '' },
      ...Object.entries(clouds).map(([name, profile]) => rowOf(active, name, profile)),
    ]
    print(json ? JSON.stringify(rows, null, 2) : renderTable(profileColumns, rows, colours))
  },
})

const use = command({
  name: 'use',
  asks: 'none',
  usage: 'PROFILE',
  summary: 'make a profile the active one, the default of all commands',
  examples: ['skerry use work', 'skerry use local'],
  next: 'skerry list lists its VMs',
  async run({ profiles: store, print }, { words: [name = ''], json }) {
    const known = await store.read()
    if (name !== LOCAL) profileNamed(known, name)
    await store.write({ ...known, active: name })
    print(json ? JSON.stringify({ active: name }, null, 2) : `${name} is the active profile now`)
  },
})

export const profileCommands = [logout, profiles, use]
