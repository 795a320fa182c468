// The configuration of the page, and who is logged in.
import { beginSession, request, requestEvents } from '../api/client.ts'
import type { SessionDocument } from '../api/documents.ts'
import { CODE_HEADER } from '../api/second-factor-documents.ts'
import { queryClient } from './query-client.ts'
import { createStore, useStore } from './store.ts'

export interface PageConfig {
  readonly kind: 'cloud' | 'machine'
  /** The name of the cloud, such as its host name. */
  readonly name: string
  readonly version: string
  /** The address of the consoles; the page's policy allows connections to it. */
  readonly console?: string
  /** Whether the cloud has a workflow server. */
  readonly workflows?: boolean
  /** Whether the cloud has a host name, which passkeys need. */
  readonly passkeys?: boolean
  /** Present where the browser has a valid cookie. */
  readonly session?: SessionDocument
  /** Of a machine: it requires a token, and this browser has no session. */
  readonly isLocked?: true
}

export interface UserSession {
  readonly user: string
  readonly org: string
  readonly role: string
  readonly rights: ReadonlySet<string>
  readonly orgHref: string | undefined
  /** The organisation requires a second factor: until the user adds one, nothing else is allowed. */
  readonly isLimited?: boolean
}

export const pageConfig = createStore<PageConfig>({ kind: 'cloud', name: '', version: '' })
export const session = createStore<UserSession | undefined>(undefined)
/** The session ended while the page was open: a dialog asks for the password again. */
export const hasSessionEnded = createStore(false)

const sessionOf = ({ user, org, role, right, link }: SessionDocument): UserSession => ({
  user,
  org,
  role: role ?? '',
  rights: new Set(right),
  orgHref: link?.find(({ rel, type }) => rel === 'down' && type?.includes('.org+'))?.href,
  isLimited: link?.some(({ type }) => type?.includes('.secondFactors+')) ?? false,
})

/** Loads the configuration, which before-paint.js has requested already. */
export async function loadConfig(): Promise<void> {
  const early = Reflect.get(window, 'skerryConfig') as Promise<PageConfig> | undefined
  const first = await (early ?? request<PageConfig>('/ui/config.json'))
  const hadTicket = await tradeTicket()
  const config = hadTicket ? await request<PageConfig>('/ui/config.json') : first
  if (hadTicket || first.isLocked) localStorage.setItem(NEEDS_TOKEN, 'yes')
  pageConfig.set(config)
  if (config.kind === 'machine') session.set(config.isLocked ? undefined : ownerOfMachine)
  else session.set(config.session && sessionOf(config.session))
}

const NEEDS_TOKEN = 'skerry.needs-token'

/** Whether the vmd of this page requires its token: it gave out a ticket, or was locked, in this browser before. */
export const needsToken = (): boolean => localStorage.getItem(NEEDS_TOKEN) === 'yes'

/** `skerry ui` may have opened a session in another tab, whose cookie is this tab's, too. */
export async function resumeOnMachine(): Promise<void> {
  const config = await request<PageConfig>('/ui/config.json').catch(() => undefined)
  if (!config || config.isLocked) return
  beginSession()
  hasSessionEnded.set(false)
  await queryClient.invalidateQueries()
}

/** A user who may use the local API may do everything. */
const ownerOfMachine: UserSession = {
  user: '',
  org: '',
  role: '',
  rights: new Set(),
  orgHref: undefined,
}

/** The ticket that `skerry ui` put into the address becomes a session. It leaves the address at once. */
async function tradeTicket(): Promise<boolean> {
  const ticket = /^#ticket=([\w-]+)$/.exec(location.hash)?.[1]
  if (ticket === undefined) return false
  history.replaceState(null, '', location.pathname + location.search)
  await request('/api/ui/session', { method: 'POST', body: { ticket }, expects401: true }).catch(
    () => undefined,
  )
  return true
}

export function useSession(): UserSession {
  const current = useStore(session)
  if (!current) throw new Error('this component needs a session')
  return current
}

const basicCredentials = (name: string, password: string): string => {
  const bytes = new TextEncoder().encode(`${name}:${password}`)
  return `Basic ${btoa(String.fromCodePoint(...bytes))}`
}

/** `code`: of a second factor, if the account has one. */
export async function logIn(name: string, password: string, code?: string): Promise<void> {
  const document = await request<SessionDocument>('/api/sessions', {
    method: 'POST',
    headers: {
      authorization: basicCredentials(name, password),
      ...(code !== undefined && { [CODE_HEADER]: code }),
    },
    expects401: true,
  })
  adopt(document)
}

/** Goes on with the session that the browser has been given. */
export const adoptSession = async (): Promise<void> =>
  adopt(await request<SessionDocument>('/api/session'))

function adopt(document: SessionDocument): void {
  const before = session.get()
  const next = sessionOf(document)
  // Another user must not see what the page has cached, and a limited session can load none of it.
  const isOther = before && (before.user !== next.user || before.org !== next.org)
  if (isOther || (before && next.isLimited)) return location.reload()
  beginSession()
  session.set(next)
  hasSessionEnded.set(false)
  // The login does not wait for what is read again: a browser that takes itself for offline reads nothing.
  void queryClient.invalidateQueries()
}

export async function logOut(): Promise<void> {
  await request('/api/session', { method: 'DELETE', expects401: true }).catch(() => undefined)
  location.assign('/ui/login')
}

requestEvents.onUnauthenticated = () => {
  if (session.get()) hasSessionEnded.set(true)
}
