import { Fault } from '@skerry/fault'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { countEntries } from '../directories/ask-directory.ts'
import { Unproved } from '../directories/ask-openid.ts'
import {
  accessTo,
  addProvider,
  changeProvider,
  deleteProvider,
  openIdAccessTo,
  providersOf,
  readSealed,
  wholeProvider,
  writeGroupRoles,
} from '../directories/identity-providers.ts'
import {
  identityProvider,
  identityProviderList,
  testedProvider,
  type TestedProvider,
} from '../documents/admin/identity-providers.ts'
import type { Principal } from '../domain/authorize.ts'
import { hrefsIn } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedProvider, groupRoles, newProvider } from '../params/identity-provider.ts'

const closeIn =
  ({ seal }: RequestContext) =>
  (secret: string, about: string): Buffer =>
    seal.close(secret, about)

/** Asks the identity server, and says what it found: a server that does not answer is a result of the test. */
async function tryProvider(
  context: RequestContext,
  principal: Principal,
  id: string,
): Promise<TestedProvider> {
  const row = await context.as(principal, (tx) => readSealed(tx, id))
  const open = (sealed: Buffer, about: string): string => context.seal.open(sealed, about)
  try {
    if (row.kind === 'oidc') {
      await context.openIdServers.test(openIdAccessTo(row, open))
      return { answers: true, message: 'the identity server answers with its discovery document' }
    }
    const access = accessTo(row, open)
    const { people, groups } = await countEntries(access)
    const message = `the reader finds ${people} people and ${groups} groups`
    return { answers: true, people, groups, message }
  } catch (error) {
    if (error instanceof Unproved) return { answers: false, message: error.message }
    if (!(error instanceof Fault)) throw error
    const { cause } = error
    const why = cause instanceof Error ? `: ${cause.name} ${cause.message.trim()}` : ''
    return { answers: false, message: `${error.message}${why}` }
  }
}

export const identityProviders = [
  readRoute({
    name: 'listIdentityProviders',
    path: at.identityProviders,
    permission: 'org:admin',
    answers: { 200: 'admin.identityProviders' },
    doc: 'The identity servers of an organisation, by name. A name without an account is looked up in each of them, in this order.',
    read: (tx, { org }) => providersOf(tx, org.id),
    show: (context, caller, rows) => ({
      status: 200,
      body: identityProviderList(caller.params.org.id, rows, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'addIdentityProvider',
    method: 'POST',
    path: at.identityProviders,
    permission: 'cloud:admin',
    takes: newProvider,
    answers: { 201: 'admin.identityProvider' },
    doc: 'Adds a server that proves users of the organisation: kind ldap, such as OpenLDAP or Active Directory, or kind oidc, an OpenID Connect server, for logins in the browser. Users get the highest role that one of their groups has; their accounts are created at their first login. Password, of the reader or of the client, is never returned. Only with TLS.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const made = await context.as(principal, (tx) =>
        addProvider(tx, principal, params.org.id, body, closeIn(context)),
      )
      const hrefs = hrefsIn(context)
      const headers = { location: hrefs.identityProvider(made.provider.id) }
      return { status: 201, headers, body: identityProvider(made, caller, hrefs) }
    },
  }),
  readRoute({
    name: 'readIdentityProvider',
    path: at.identityProvider,
    permission: 'org:admin',
    answers: { 200: 'admin.identityProvider' },
    doc: 'An identity server: how it is asked, and the roles of its groups. SilentSince: it does not answer. DoubtedSince: it reports that more users have left than is plausible, and nothing is changed.',
    read: (tx, params) => wholeProvider(tx, params.provider),
    show: (context, caller, found) => ({
      status: 200,
      body: identityProvider(found, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'changeIdentityProvider',
    method: 'PUT',
    path: at.identityProvider,
    permission: 'cloud:admin',
    takes: changedProvider,
    answers: { 200: 'admin.identityProvider' },
    doc: 'Replaces the settings of an identity server, enables or disables it. Without Password the stored one stays, unless Url, Reader, Client or Ca change. Users of a disabled server cannot log in with it; their sessions and tokens stay.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await context.as(principal, (tx) =>
        changeProvider(tx, principal, params.provider, body, closeIn(context)),
      )
      return { status: 200, body: identityProvider(changed, caller, hrefsIn(context)) }
    },
  }),
  route({
    name: 'deleteIdentityProvider',
    method: 'DELETE',
    path: at.identityProvider,
    permission: 'cloud:admin',
    answers: { 204: 'nothing' },
    doc: 'Removes an identity server. No user may depend on it.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => deleteProvider(tx, principal, params.provider))
      return { status: 204 }
    },
  }),
  route({
    name: 'testIdentityProvider',
    method: 'POST',
    path: at.testIdentityProvider,
    permission: 'cloud:admin',
    answers: { 200: 'admin.identityProviderTest' },
    doc: 'Asks an LDAP server as its reader, and counts the people and groups that it finds; asks an OpenID Connect server for its discovery document. The answer is 200 also if the server does not answer.',
    async handle(context, caller) {
      const { principal, params } = caller
      const tested = await tryProvider(context, principal, params.provider.id)
      return { status: 200, body: testedProvider(tested, caller) }
    },
  }),
  route({
    name: 'writeGroupRoles',
    method: 'PUT',
    path: at.groupRoles,
    permission: 'org:admin',
    takes: groupRoles,
    answers: { 200: 'admin.identityProvider' },
    doc: 'Replaces the groups that have roles, by name or by DN. It takes effect at the next login of each user, and within 15 minutes for all.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await context.as(principal, (tx) =>
        writeGroupRoles(tx, principal, params.provider, body),
      )
      return { status: 200, body: identityProvider(changed, caller, hrefsIn(context)) }
    },
  }),
]
