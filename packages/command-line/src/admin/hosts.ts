import { byName, listOf, number, object, orNull, text, truth } from '../shape.ts'
import { adminCommand, valued } from './declare.ts'

const recovery = object({
  recovering: truth,
  era: text,
  since: orNull(text),
  found: orNull(byName(number)),
  hosts: listOf(object({ id: text, name: text, is: text, seenAt: orNull(text) })),
})
const said = object({ host: text, said: text })
const example = '4a9b2e0e-2d5c-4f63-8f6b-0c1f9d3e7a55'

/** Hosts of a cloud, VMs found on them, and the recovery after a restore. */
export const hostAdmin = {
  invite: adminCommand({
    name: 'admin host invite',
    usage: '',
    summary: 'print the command that joins a machine as a host; valid for one machine and one hour',
    examples: ['sudo skerry admin host invite'],
    next: 'run the printed command on the machine, as root',
    options: { host: valued('ID', 'the host that the machine was before, to keep its VMs') },
    output: object({ cloud: text, token: text, fingerprint: text, line: text }),
  }),
  list: adminCommand({
    name: 'admin host list',
    usage: '',
    summary: 'list hosts: state, whether VMs are placed on them, whether they are connected',
    examples: ['sudo skerry admin host list', 'sudo skerry admin host list --json'],
    next: 'skerry admin host disable HOST places no new VMs on one',
    output: listOf(
      object(
        { id: text, name: text, state: text, enabled: truth, seen: truth },
        { vms: number, cpus: orNull(number), memoryMiB: orNull(number), port: orNull(number) },
      ),
    ),
  }),
  enable: adminCommand({
    name: 'admin host enable',
    usage: 'HOST',
    summary: 'place new VMs on a host again',
    examples: [`sudo skerry admin host enable ${example}`],
    next: 'skerry admin host list shows the result',
    output: said,
  }),
  disable: adminCommand({
    name: 'admin host disable',
    usage: 'HOST',
    summary: 'place no new VMs on a host; its VMs stay',
    examples: [`sudo skerry admin host disable ${example}`],
    next: 'skerry admin host enable HOST places new VMs on it again',
    output: said,
  }),
  revoke: adminCommand({
    name: 'admin host revoke',
    usage: 'HOST',
    summary: 'revoke a host for good; its VMs become UNKNOWN',
    examples: [`sudo skerry admin host revoke ${example}`],
    next: 'skerry admin host declare-lost HOST, if its disks are lost too',
    output: said,
  }),
  declareLost: adminCommand({
    name: 'admin host declare-lost',
    usage: 'HOST',
    summary: 'declare that the disks of a host are lost for good: its tasks fail, its VMs are lost',
    examples: [`sudo skerry admin host declare-lost ${example}`],
    next: 'the owners can delete the VMs, which frees their quota',
    output: said,
  }),
  adopt: adminCommand({
    name: 'admin host adopt',
    usage: 'HOST',
    summary:
      'release a host from quarantine although it has lost fencing tokens; VMs that it no longer has become MISSING',
    examples: [`sudo skerry admin host adopt ${example}`],
    next: 'skerry admin host list shows the result',
    output: object({ host: text, missing: number }),
  }),
  listOrphans: adminCommand({
    name: 'admin orphan list',
    usage: '',
    summary: 'list orphaned VMs: they exist on a host but belong to no organisation',
    examples: ['sudo skerry admin orphan list'],
    next: 'skerry admin vm adopt VM puts one into an organisation',
    output: listOf(object({ vm: text, host: text })),
  }),
  adoptVm: adminCommand({
    name: 'admin vm adopt',
    usage: 'VM',
    summary:
      'adopt an orphaned VM into an organisation, using the VM spec on its host; or restore a VM that its host has lost, using its database row',
    examples: [
      `sudo skerry admin vm adopt ${example}`,
      `sudo skerry admin vm adopt ${example} --org blue --vapp found --name web-1`,
    ],
    next: 'skerry admin orphan list lists the others',
    options: {
      host: valued('ID', 'the host, if several have the VM'),
      org: valued('NAME', 'organisation (default: that of the VM spec)'),
      vapp: valued('NAME', 'vApp (default: that of the VM spec)'),
      name: valued('NAME', 'name of the VM (default: that of the VM spec)'),
    },
    output: object({ host: text, vapp: text }),
  }),
  startRecovery: adminCommand({
    name: 'admin recovery start',
    usage: '',
    summary:
      'start a new era and compare the database with the hosts; run it after a database restore, before starting a cell',
    examples: ['sudo skerry admin recovery start'],
    next: 'start the cells, which do the recovery; skerry admin recovery info shows the progress',
    output: recovery,
  }),
  showRecovery: adminCommand({
    name: 'admin recovery info',
    usage: '',
    summary: 'show the progress of the recovery, and what the last one found',
    examples: ['sudo skerry admin recovery info', 'sudo skerry admin recovery info --json'],
    next: 'skerry admin orphan list lists the orphaned VMs that were found',
    output: recovery,
  }),
  waive: adminCommand({
    name: 'admin recovery waive',
    usage: 'HOST',
    summary: 'complete the recovery without a host that will not return soon',
    examples: [`sudo skerry admin recovery waive ${example}`],
    next: 'skerry admin recovery info shows the progress',
    output: recovery,
  }),
} as const
