import { cloudByToken } from '@skerry/cloud-client'

import { cloudVerbs } from './cloud/verbs.ts'
import type { Command, CliContext } from './command.ts'
import { vmdVerbs } from './local/verbs.ts'
import { chooseProfile, LOCAL, type Choice, type ProfileSelection } from './profiles/profiles.ts'
import { Failure } from './terminal/failure.ts'
import type { CloudSession } from './vms/cloud-session.ts'
import { localClient } from './vms/local-client.ts'

/** What main.ts passes; the target is known once the command line is parsed. */
export type LocalMachine = Omit<CliContext, 'api' | 'verbs' | 'cloud' | 'at'> & {
  /** URL of vmd. */
  readonly url: string
  readonly token: string | undefined
  /** SKERRY_PROFILE. */
  readonly profile: string | undefined
}

type Asking = Pick<Command, 'name' | 'asks' | 'instead'>

/** The context of one command. This is the only place that chooses between vmd and a cloud. */
export async function contextAt(
  machine: LocalMachine,
  { name, asks, instead }: Asking,
  selection: ProfileSelection,
): Promise<CliContext> {
  // Commands that need no server also work with a broken profile file.
  const choice: Choice =
    asks === 'none'
      ? { on: 'vmd' }
      : chooseProfile(await machine.profiles.read(), { environment: machine.profile, ...selection })
  if (asks === 'vmd' && choice.on === 'cloud') throw onlyHere(name, choice.name, instead)
  if (asks === 'cloud' && choice.on === 'vmd') throw onlyInClouds(name)
  const api = localClient(selection.url ?? machine.url, machine.token)
  const at: CliContext['at'] = (on) => contextAt(machine, { name }, { on })
  const cloud = choice.on === 'cloud' ? sideOf(machine, choice) : undefined
  const verbs = cloud ? cloudVerbs(cloud) : vmdVerbs({ ...machine, api })
  return { ...machine, api, at, cloud, verbs }
}

const sideOf = (
  { now, wait, onInterrupt }: LocalMachine,
  { name, profile }: Extract<Choice, { on: 'cloud' }>,
): CloudSession => ({
  name,
  profile,
  now,
  wait,
  onInterrupt,
  cloud: cloudByToken(profile, profile.token),
})

const onlyHere = (name: string, profile: string, instead = 'skerry help'): Failure =>
  new Failure('refused', `skerry ${name} is for VMs of this machine, and ${profile} is a cloud`, {
    hint: `${instead}; for this machine: skerry ${name} --on ${LOCAL}`,
  })

const onlyInClouds = (name: string): Failure =>
  new Failure('refused', `skerry ${name} needs a cloud, and the active profile is this machine`, {
    hint: 'skerry login NAME https://cloud.example --user USER@ORG; or --on NAME, one of skerry profiles',
  })
