import { at } from '../dialect/addresses.ts'
import { roleDocument, roleList } from '../documents/admin/roles.ts'
import { hrefsIn } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedRole, newRole } from '../params/admin.ts'
import { addRole, changeRole, deleteRole, orgRolesOf, withUse } from '../roles/org-roles.ts'

export const orgRoles = [
  readRoute({
    name: 'listRoles',
    path: at.orgRoles,
    permission: 'org:admin',
    answers: { 200: 'admin.roles' },
    doc: 'The roles of an organisation, by name, beside those that every organisation has.',
    read: (tx, { org }) => orgRolesOf(tx, org.id),
    show: (context, caller, all) => ({
      status: 200,
      body: roleList(caller.params.org.id, all, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'addRole',
    method: 'POST',
    path: at.orgRoles,
    permission: 'org:admin',
    takes: newRole,
    answers: { 201: 'admin.role' },
    doc: 'Adds a role to the organisation: a set of rights, none of which the caller lacks. Users and groups of identity servers have it by its name, which never changes. The right session is always in it.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const made = await context.as(principal, (tx) => addRole(tx, principal, params.org.id, body))
      const hrefs = hrefsIn(context)
      const headers = { location: hrefs.orgRole(made.role.id) }
      return { status: 201, headers, body: roleDocument(made, caller, hrefs) }
    },
  }),
  readRoute({
    name: 'readRole',
    path: at.orgRole,
    permission: 'org:admin',
    answers: { 200: 'admin.role' },
    doc: 'A role of an organisation: its rights, and how many users and groups have it.',
    read: (tx, { role }) => withUse(tx, role),
    show: (context, caller, found) => ({
      status: 200,
      body: roleDocument(found, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'changeRole',
    method: 'PUT',
    path: at.orgRole,
    permission: 'org:admin',
    takes: changedRole,
    answers: { 200: 'admin.role' },
    doc: 'Replaces the rights of a role. It takes effect at once for sessions, API tokens, event streams, workflow runs and screens of its users; the order of the roles of groups changes within 15 minutes.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await context.as(principal, (tx) =>
        changeRole(tx, principal, params.role, body),
      )
      return { status: 200, body: roleDocument(changed, caller, hrefsIn(context)) }
    },
  }),
  route({
    name: 'deleteRole',
    method: 'DELETE',
    path: at.orgRole,
    permission: 'org:admin',
    answers: { 204: 'nothing' },
    doc: 'Removes a role that no user and no group has.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => deleteRole(tx, principal, params.role))
      return { status: 204 }
    },
  }),
]
