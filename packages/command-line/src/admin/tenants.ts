import { byName, listOf, number, object, orNull, text, truth } from '../shape.ts'
import { adminCommand, flag, valued } from './declare.ts'

const quota = object({ org: text, quota: byName(number), used: byName(number) })
const user = object({ user: text, org: text, role: text }, { enabled: truth })
const enabled = object({ org: text, enabled: truth })
const bound = (what: string) => valued('N|none', `most ${what}, or none for no limit`)
const ROLES =
  'user, author, "console only", "organisation administrator", in System "system administrator", or one that the organisation has made'

/** Organisations with their quotas, users, API tokens, templates and leases. */
export const tenantAdmin = {
  listOrgs: adminCommand({
    name: 'admin org list',
    usage: '',
    summary: 'list organisations: whether they are enabled, number of users and VMs',
    examples: ['sudo skerry admin org list'],
    next: 'skerry admin org create NAME creates another',
    output: listOf(object({ name: text, enabled: truth, users: number, vms: number, id: text })),
  }),
  createOrg: adminCommand({
    name: 'admin org create',
    usage: 'NAME',
    summary: 'create an organisation with one vDC',
    examples: ['sudo skerry admin org create blue'],
    next: 'skerry admin user create USER@ORG --role ROLE creates its first user',
    options: { vdc: valued('NAME', 'name of the vDC (default: main)') },
    output: object({ org: text, name: text }),
  }),
  enableOrg: adminCommand({
    name: 'admin org enable',
    usage: 'NAME',
    summary: 'let the users of an organisation log in again',
    examples: ['sudo skerry admin org enable blue'],
    next: 'skerry admin org list shows the result',
    output: enabled,
  }),
  disableOrg: adminCommand({
    name: 'admin org disable',
    usage: 'NAME',
    summary:
      'log out the users of an organisation and reject their logins; its VMs stay as they are',
    examples: ['sudo skerry admin org disable blue'],
    next: 'skerry admin org enable NAME lets them log in again',
    output: enabled,
  }),
  showQuota: adminCommand({
    name: 'admin quota info',
    usage: 'ORG',
    summary: 'show the quota of an organisation and its usage',
    examples: ['sudo skerry admin quota info blue'],
    next: 'skerry admin quota set ORG changes it',
    output: quota,
  }),
  setQuota: adminCommand({
    name: 'admin quota set',
    usage: 'ORG',
    summary: 'set the quota of an organisation; omitted bounds stay, none removes a bound',
    examples: ['sudo skerry admin quota set blue --vms 20 --memory-mib 65536'],
    next: 'skerry admin quota info ORG shows the usage',
    options: {
      vms: bound('VMs'),
      'running-vms': bound('running VMs'),
      cpus: bound('CPUs'),
      'memory-mib': bound('memory in MiB'),
      'storage-mib': bound('storage in MiB: disks, snapshots and saved memory'),
      networks: bound('networks'),
    },
    output: quota,
  }),
  listUsers: adminCommand({
    name: 'admin user list',
    usage: '',
    summary: 'list users, of all organisations or of one: role, enabled, sessions, tokens',
    examples: ['sudo skerry admin user list', 'sudo skerry admin user list --org blue'],
    next: 'skerry admin user set USER@ORG --role ROLE changes a role',
    options: { org: valued('ORG', 'organisation (default: all)') },
    output: listOf(user),
  }),
  createUser: adminCommand({
    name: 'admin user create',
    usage: 'USER@ORG',
    summary: 'create a user with the password from standard input',
    examples: ['sudo skerry admin user create bob@blue --role author'],
    next: 'skerry login PROFILE URL --user USER@ORG, as that user',
    options: { role: valued('ROLE', `role: ${ROLES}`) },
    output: user,
  }),
  setUser: adminCommand({
    name: 'admin user set',
    usage: 'USER@ORG',
    summary:
      'change the role, password or state of a user, or remove lost second factors; effective at once',
    examples: [
      "sudo skerry admin user set bob@blue --role 'organisation administrator'",
      'sudo skerry admin user set bob@blue --disable',
      'sudo skerry admin user set bob@blue --password',
      'sudo skerry admin user set bob@blue --remove-second-factors',
    ],
    next: 'skerry admin user list shows the result',
    options: {
      role: valued('ROLE', `new role: ${ROLES}`),
      enable: flag('let the user log in again'),
      disable: flag('log out the user and reject their logins'),
      password: flag('set the password from standard input and end all sessions of the user'),
      'remove-second-factors': flag('remove all second factors and recovery codes of the user'),
    },
    output: user,
  }),
  removeUser: adminCommand({
    name: 'admin user rm',
    usage: 'USER@ORG',
    summary: 'remove a user with all sessions and tokens; their VMs and other resources stay',
    examples: ['sudo skerry admin user rm bob@blue'],
    next: 'skerry admin user list lists the others',
    output: user,
  }),
  listTokens: adminCommand({
    name: 'admin token list',
    usage: 'USER@ORG',
    summary:
      'list the API tokens of a user: creation time, last use and end, never the token itself',
    examples: ['sudo skerry admin token list bob@blue'],
    next: 'skerry admin token revoke USER@ORG NAME revokes one',
    output: listOf(
      object({ name: text, made: text, used: orNull(text), expires: orNull(text), id: text }),
    ),
  }),
  createToken: adminCommand({
    name: 'admin token create',
    usage: 'USER@ORG NAME',
    summary: 'create an API token for a user and print it; it is shown only once',
    examples: [
      'sudo skerry admin token create bob@blue nightly',
      'sudo skerry admin token create bob@blue nightly --days 90',
    ],
    next: 'skerry login PROFILE URL --token-stdin reads it; curl -u USER@ORG sends it as the password',
    options: { days: valued('DAYS', 'days until it expires (default: never)') },
    output: object({ name: text, token: text }),
  }),
  revokeToken: adminCommand({
    name: 'admin token revoke',
    usage: 'USER@ORG NAME',
    summary: 'revoke an API token at once',
    examples: ['sudo skerry admin token revoke bob@blue nightly'],
    next: 'skerry admin token list USER@ORG lists the others',
    output: object({ user: text, token: text }),
  }),
  listTemplates: adminCommand({
    name: 'admin template list',
    usage: '',
    summary: 'list templates with their sizes, of all organisations or of one',
    examples: ['sudo skerry admin template list', 'sudo skerry admin template list --org blue'],
    next: 'skerry admin template import FILE --org ORG --name NAME imports another',
    options: { org: valued('ORG', 'organisation (default: all)') },
    output: listOf(object({ name: text, org: text, id: text })),
  }),
  importTemplate: adminCommand({
    name: 'admin template import',
    usage: 'FILE',
    summary: 'copy a qcow2 image into the image store and create a template from it',
    examples: ['sudo skerry admin template import debian-12.qcow2 --org blue --name debian'],
    next: 'skerry template list shows it to the users of the organisation',
    options: {
      org: valued('ORG', 'organisation of the template'),
      name: valued('NAME', 'name of the template'),
      cpus: valued('N', 'number of CPUs of its VMs (default: 1)'),
      memory: valued('MIB', 'memory of its VMs (default: 512)'),
      disk: valued('MIB', 'disk of its VMs (default: the size of the image)'),
    },
    output: object({ template: text, org: text, name: text, digest: text }),
  }),
  allowLeases: adminCommand({
    name: 'admin lease allow',
    usage: '',
    summary: 'for one hour, let expired leases stop and delete any number of VMs',
    examples: ['sudo skerry admin lease allow'],
    next: 'skerry event list shows what the leases ended',
    output: object({ until: text }),
  }),
} as const
