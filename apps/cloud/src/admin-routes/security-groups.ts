import { at } from '../dialect/addresses.ts'
import { securityGroup, securityGroupList } from '../documents/admin/security-groups.ts'
import { hrefsIn } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedSecurityGroup, newSecurityGroup } from '../params/security-group.ts'
import {
  addSecurityGroup,
  changeSecurityGroup,
  deleteSecurityGroup,
  readWholeGroup,
  securityGroupsOf,
} from '../tenants/security-groups.ts'

export const securityGroups = [
  readRoute({
    name: 'listSecurityGroups',
    path: at.securityGroups,
    permission: 'org:read',
    answers: { 200: 'admin.securityGroups' },
    doc: 'The security groups of an organisation, by name.',
    read: (tx, { org }) => securityGroupsOf(tx, org.id),
    show: (context, caller, groups) => ({
      status: 200,
      body: securityGroupList(caller.params.org.id, groups, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'addSecurityGroup',
    method: 'POST',
    path: at.securityGroups,
    permission: 'network:edit',
    takes: newSecurityGroup,
    answers: { 201: 'admin.securityGroup' },
    doc: 'Creates a security group. It applies to the VMs whose metadata has all labels of its Selector. With Inbound, these accept only what a rule allows; with Outbound, they send only that. Replies always pass. A VM in several groups has the rules of all of them.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const made = await context.as(principal, async (tx) =>
        readWholeGroup(tx, await addSecurityGroup(tx, principal, params.org.id, body)),
      )
      const hrefs = hrefsIn(context)
      const headers = { location: hrefs.securityGroup(made.group.id) }
      return { status: 201, headers, body: securityGroup(made, caller, hrefs) }
    },
  }),
  readRoute({
    name: 'readSecurityGroup',
    path: at.securityGroup,
    permission: 'org:read',
    answers: { 200: 'admin.securityGroup' },
    doc: 'A security group: its labels, its rules, and the VMs that have the labels. Its status is 1 when the hosts have its rules.',
    read: (tx, params) => readWholeGroup(tx, params.securityGroup),
    show: (context, caller, found) => ({
      status: 200,
      body: securityGroup(found, caller, hrefsIn(context)),
    }),
  }),
  route({
    name: 'changeSecurityGroup',
    method: 'PUT',
    path: at.securityGroup,
    permission: 'network:edit',
    takes: changedSecurityGroup,
    answers: { 200: 'admin.securityGroup' },
    doc: 'Replaces the labels and rules of a security group; name and description stay if the body lacks them. With a version in the body, the request is refused if the group has another one. Open connections that are not allowed any more are blocked.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await context.as(principal, async (tx) =>
        readWholeGroup(tx, await changeSecurityGroup(tx, principal, params.securityGroup, body)),
      )
      return { status: 200, body: securityGroup(changed, caller, hrefsIn(context)) }
    },
  }),
  route({
    name: 'deleteSecurityGroup',
    method: 'DELETE',
    path: at.securityGroup,
    permission: 'network:edit',
    answers: { 204: 'nothing' },
    doc: 'Deletes a security group. Rules of other groups may not name it as a peer.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => deleteSecurityGroup(tx, principal, params.securityGroup))
      return { status: 204 }
    },
  }),
]
