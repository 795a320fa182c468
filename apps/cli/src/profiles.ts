import { Failure } from './failure.ts'

/** A cloud that somebody has logged in to. */
export interface Profile {
  readonly url: string
  /** As USER@ORG. */
  readonly user: string
  readonly token: string
  /** Where the token is revoked; a session that ends by itself has none. */
  readonly tokenHref?: string
  /** Certificates, as PEM, that are trusted for this cloud beside those of the machine. */
  readonly ca?: string
  /** Where its workflow server answers. */
  readonly workflow?: string
  /** Which data centre new VMs are made in, where there are several. */
  readonly vdc?: string
}

export interface Profiles {
  /** The name of one of them, or `local`. */
  readonly active: string
  readonly clouds: Readonly<Record<string, Profile>>
}

/** The VMs of this machine, by vmd. Always there. */
export const LOCAL = 'local'
export const noProfiles: Profiles = { active: LOCAL, clouds: {} }

/** Where profiles are kept between two commands. */
export interface ProfileStore {
  readonly file: string
  read(): Promise<Profiles>
  write(profiles: Profiles): Promise<void>
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/

export function requireProfileName(name: string): void {
  if (name === LOCAL) {
    throw new Failure('usage', 'local is this machine, to which nobody logs in', {
      hint: 'choose another name for the cloud; skerry use local goes back to this machine',
    })
  }
  if (NAME.test(name)) return
  throw new Failure('usage', 'a profile is called by letters, digits, - _ and . alone', {
    hint: 'such as: skerry login work https://cloud.example --user bob@blue',
  })
}

/** A name that everything has by itself, such as constructor, is nobody's profile. */
export const profileIn = ({ clouds }: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(clouds, name) ? clouds[name] : undefined

export const withProfile = (
  { clouds }: Profiles,
  name: string,
  profile: Profile,
  active: string,
): Profiles => ({ active, clouds: { ...clouds, [name]: profile } })

/** Without it; whoever used it is on this machine again. */
export function withoutProfile({ active, clouds }: Profiles, name: string): Profiles {
  const { [name]: _, ...others } = clouds
  return { active: active === name ? LOCAL : active, clouds: others }
}

export const renderProfiles = (profiles: Profiles): string =>
  `${JSON.stringify(profiles, null, 2)}\n`

/** What the file holds; one that somebody has broken is told, and never written over. */
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
  new Failure('refused', `${file} does not hold profiles`, {
    cause,
    hint: 'mend it, or move it away and log in again: skerry login NAME URL --user USER@ORG',
  })

export type Choice =
  | { readonly on: 'vmd' }
  | { readonly on: 'cloud'; readonly name: string; readonly profile: Profile }

/** What a line says of where it is meant. */
export interface Told {
  /** --on */
  readonly on?: string | undefined
  /** --url: a vmd, whatever is active. */
  readonly url?: string | undefined
  /** SKERRY_PROFILE */
  readonly environment?: string | undefined
}

/** Which place a line is meant for: what the line says, then the environment, then the active profile. */
export function chooseProfile(profiles: Profiles, { on, url, environment }: Told): Choice {
  if (url !== undefined && on !== undefined && on !== LOCAL) {
    throw new Failure('usage', '--url is an address of vmd, and --on a cloud: give one of them')
  }
  const name = url === undefined ? (on ?? environment ?? profiles.active) : LOCAL
  if (name === LOCAL) return { on: 'vmd' }
  const profile = profileIn(profiles, name)
  if (profile) return { on: 'cloud', name, profile }
  const known = [LOCAL, ...Object.keys(profiles.clouds)].join(', ')
  throw new Failure('refused', `there is no profile ${name}`, {
    hint: `skerry login ${name} URL --user USER@ORG makes it; there are: ${known}`,
  })
}
