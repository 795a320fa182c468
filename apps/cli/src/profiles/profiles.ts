import { Failure } from '../terminal/failure.ts'

/** A cloud that the user is logged in to. */
export interface Profile {
  readonly url: string
  /** As USER@ORG. */
  readonly user: string
  readonly token: string
  /** Href to revoke the token; absent for a session, which expires. */
  readonly tokenHref?: string
  /** PEM certificates that are trusted for this cloud in addition to those of the machine. */
  readonly ca?: string
  /** URL of its workflow server. */
  readonly workflow?: string
  /** Data centre for new VMs, if there are several. */
  readonly vdc?: string
}

export interface Profiles {
  /** The name of one of them, or `local`. */
  readonly active: string
  readonly clouds: Readonly<Record<string, Profile>>
}

/** The profile of this machine and its vmd. It always exists. */
export const LOCAL = 'local'
export const noProfiles: Profiles = { active: LOCAL, clouds: {} }

/** Persistent storage of profiles. */
export interface ProfileStore {
  readonly file: string
  read(): Promise<Profiles>
  write(profiles: Profiles): Promise<void>
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/

export function requireProfileName(name: string): void {
  if (name === LOCAL) {
    throw new Failure('usage', 'local is this machine, which needs no login', {
      hint: 'choose another name for the cloud; skerry use local switches back to this machine',
    })
  }
  if (NAME.test(name)) return
  throw new Failure('usage', 'a profile name may contain only letters, digits, - _ and .', {
    hint: 'e.g. skerry login work https://cloud.example --user bob@blue',
  })
}

/** Only own properties: inherited names such as constructor are not profiles. */
export const profileIn = ({ clouds }: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(clouds, name) ? clouds[name] : undefined

export const withProfile = (
  { clouds }: Profiles,
  name: string,
  profile: Profile,
  active: string,
): Profiles => ({ active, clouds: { ...clouds, [name]: profile } })

/** Removes a profile; if it was active, this machine becomes active. */
export function withoutProfile({ active, clouds }: Profiles, name: string): Profiles {
  const { [name]: _, ...others } = clouds
  return { active: active === name ? LOCAL : active, clouds: others }
}

export const renderProfiles = (profiles: Profiles): string =>
  `${JSON.stringify(profiles, null, 2)}\n`

/** Parses the file; an invalid one is reported and never overwritten. */
export function readProfiles(text: string, file: string): Profiles {
  try {
    const read = JSON.parse(text) as Partial<Profiles> | null
    const { active = LOCAL, clouds = {} } = read ?? {}
    const isWhole = Object.entries(clouds).every(
      ([name, profile]) => NAME.test(name) && isProfile(profile),
    )
    if (typeof active === 'string' && isWhole) return { active, clouds }
  } catch (cause) {
    throw broken(file, cause)
  }
  throw broken(file)
}

const isProfile = (value: unknown): value is Profile => {
  const { url, user, token } = (value ?? {}) as Partial<Record<keyof Profile, unknown>>
  return [url, user, token].every((each) => typeof each === 'string')
}

const broken = (file: string, cause?: unknown): Failure =>
  new Failure('refused', `${file} is not a valid file of profiles`, {
    cause,
    hint: 'fix it, or move it away and log in again: skerry login NAME URL --user USER@ORG',
  })

export type Choice =
  | { readonly on: 'vmd' }
  | { readonly on: 'cloud'; readonly name: string; readonly profile: Profile }

/** What selects the target of a command line. */
export interface ProfileSelection {
  /** --on */
  readonly on?: string | undefined
  /** --url: a vmd, regardless of the active profile. */
  readonly url?: string | undefined
  /** SKERRY_PROFILE */
  readonly environment?: string | undefined
}

/** Selects the target: options first, then the environment, then the active profile. */
export function chooseProfile(
  profiles: Profiles,
  { on, url, environment }: ProfileSelection,
): Choice {
  if (url !== undefined && on !== undefined && on !== LOCAL) {
    throw new Failure('usage', '--url is for vmd and --on for a cloud: give only one of them')
  }
  const name = url === undefined ? (on ?? environment ?? profiles.active) : LOCAL
  if (name === LOCAL) return { on: 'vmd' }
  const profile = profileIn(profiles, name)
  if (profile) return { on: 'cloud', name, profile }
  const known = [LOCAL, ...Object.keys(profiles.clouds)].join(', ')
  throw new Failure('refused', `there is no profile ${name}`, {
    hint: `skerry login ${name} URL --user USER@ORG creates it; existing profiles: ${known}`,
  })
}
