import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { profileColumns, rowOf, type ProfileRow } from '../profile-row.ts'
import { LOCAL, profileIn, withoutProfile, type Profile, type Profiles } from '../profiles.ts'
import { revokeToken, type Revoked } from '../revoke-token.ts'
import { renderTable } from '../table.ts'

const unrevoked: Readonly<Partial<Record<Revoked, string>>> = {
  away: 'does not answer: the token is forgotten here, but not revoked there',
  kept: 'keeps the token, which was made for a script: it is forgotten here',
}

const logout = command({
  name: 'logout',
  asks: 'nobody',
  usage: '[PROFILE]',
  summary: 'end what a login began, there and here; the active profile unless told',
  examples: ['skerry logout', 'skerry logout work'],
  next: 'skerry login NAME logs in again; skerry profiles shows what is left',
  async run({ profiles, print, complain }, { words: [word], json }) {
    const known = await profiles.read()
    const name = word ?? known.active
    const profile = profileNamed(known, name)
    const revoked = await revokeToken(profile)
    await profiles.write(withoutProfile(known, name))
    const why = unrevoked[revoked]
    if (why !== undefined) {
      complain(`${profile.url} ${why}`)
      complain('next: ask its administrator to revoke it: skerry cloud token revoke')
    }
    const text = `${profile.user} is logged out of ${name}`
    const body = { profile: name, revoked: revoked === 'revoked' }
    print(json ? JSON.stringify(body, null, 2) : text)
  },
})

function profileNamed(known: Profiles, name: string): Profile {
  const profile = profileIn(known, name)
  if (profile) return profile
  const why = name === LOCAL ? 'nobody is logged in to this machine' : `there is no profile ${name}`
  throw new Failure('refused', why, { hint: 'skerry profiles shows all there are' })
}

const profiles = command({
  name: 'profiles',
  asks: 'nobody',
  usage: '',
  summary: 'this machine and the clouds that you are logged in to; * is the active one',
  examples: ['skerry profiles'],
  next: 'skerry use PROFILE makes another one active; --on PROFILE is for one command',
  async run({ profiles: store, print, colours }, { json }) {
    const { active, clouds } = await store.read()
    const rows: readonly ProfileRow[] = [
      { name: LOCAL, active: active === LOCAL, url: 'vmd of this machine', user: '' },
      ...Object.entries(clouds).map(([name, profile]) => rowOf(active, name, profile)),
    ]
    print(json ? JSON.stringify(rows, null, 2) : renderTable(profileColumns, rows, colours))
  },
})

const use = command({
  name: 'use',
  asks: 'nobody',
  usage: 'PROFILE',
  summary: 'make a profile the active one: all commands ask it from now on',
  examples: ['skerry use work', 'skerry use local'],
  next: 'skerry list shows its VMs',
  async run({ profiles: store, print }, { words: [name = ''], json }) {
    const known = await store.read()
    if (name !== LOCAL) profileNamed(known, name)
    await store.write({ ...known, active: name })
    print(json ? JSON.stringify({ active: name }, null, 2) : `${name} is the active profile now`)
  },
})

export const profileCommands = [logout, profiles, use]
