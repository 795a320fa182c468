import { cloudByToken } from '@skerry/cloud-client'

import type { CloudSide } from './cloud-side.ts'
import { cloudVerbs } from './cloud-verbs.ts'
import type { Command, World } from './command.ts'
import { Failure } from './failure.ts'
import { localClient } from './local-client.ts'
import { chooseProfile, LOCAL, type Choice, type Told } from './profiles.ts'
import { vmdVerbs } from './vmd-verbs.ts'

/** What main.ts hands in; who is asked is known when the line is. */
export type Machine = Omit<World, 'api' | 'verbs' | 'cloud' | 'at'> & {
  /** Where vmd answers. */
  readonly url: string
  readonly token: string | undefined
  /** The profile that the environment names. */
  readonly profile: string | undefined
}

type Asking = Pick<Command, 'name' | 'asks' | 'instead'>

/** The world of one command: the one place where it is chosen who does what is asked. */
export async function worldAt(
  machine: Machine,
  { name, asks, instead }: Asking,
  told: Told,
): Promise<World> {
  // What asks nobody works while the file of profiles is broken, too.
  const choice: Choice =
    asks === 'nobody'
      ? { on: 'vmd' }
      : chooseProfile(await machine.profiles.read(), { environment: machine.profile, ...told })
  if (asks === 'vmd' && choice.on === 'cloud') throw onlyHere(name, choice.name, instead)
  if (asks === 'cloud' && choice.on === 'vmd') throw onlyInClouds(name)
  const api = localClient(told.url ?? machine.url, machine.token)
  const at: World['at'] = (on) => worldAt(machine, { name }, { on })
  const cloud = choice.on === 'cloud' ? sideOf(machine, choice) : undefined
  const verbs = cloud ? cloudVerbs(cloud) : vmdVerbs({ ...machine, api })
  return { ...machine, api, at, cloud, verbs }
}

const sideOf = (
  { now, wait, onInterrupt }: Machine,
  { name, profile }: Extract<Choice, { on: 'cloud' }>,
): CloudSide => ({
  ...{ name, profile, now, wait, onInterrupt },
  cloud: cloudByToken(profile, profile.token),
})

const onlyHere = (name: string, profile: string, instead = 'skerry help'): Failure =>
  new Failure('refused', `skerry ${name} is for VMs of this machine, and ${profile} is a cloud`, {
    hint: `${instead}; for this machine: skerry ${name} --on ${LOCAL}`,
  })

const onlyInClouds = (name: string): Failure =>
  new Failure('refused', `skerry ${name} asks a cloud, and the active profile is this machine`, {
    hint: 'skerry login NAME https://cloud.example --user USER@ORG; or --on NAME, one of skerry profiles',
  })
