import { findCommand, isGroup } from '@skerry/command-line'

import { command, type Command } from './command.ts'
import { admin } from './commands/admin/admin.ts'
import { identity } from './commands/administration/identity.ts'
import { orgUsage } from './commands/administration/org-usage.ts'
import { administration } from './commands/administration/orgs-and-hosts.ts'
import { quota } from './commands/administration/quota.ts'
import { role } from './commands/administration/role.ts'
import { token } from './commands/administration/token.ts'
import { user } from './commands/administration/user.ts'
import { webhook } from './commands/administration/webhook.ts'
import { access } from './commands/cloud/access.ts'
import { exportEvents } from './commands/cloud/event-export.ts'
import { verifyEvents } from './commands/cloud/event-verify.ts'
import { followEvents } from './commands/cloud/events.ts'
import { label } from './commands/cloud/label.ts'
import { resourceCommands } from './commands/cloud/resources.ts'
import { securityGroup } from './commands/cloud/security-group.ts'
import { task } from './commands/cloud/task.ts'
import { vapp } from './commands/cloud/vapp.ts'
import { vmBulk } from './commands/cloud/vm-bulk.ts'
import { completion } from './commands/completion.ts'
import { doctor } from './commands/machine/doctor.ts'
import { down } from './commands/machine/down.ts'
import { ui } from './commands/machine/ui.ts'
import { up } from './commands/machine/up.ts'
import { externalAddresses } from './commands/networks/addresses.ts'
import { connections } from './commands/networks/connect.ts'
import { edge } from './commands/networks/edge.ts'
import { external } from './commands/networks/external.ts'
import { firewall } from './commands/networks/firewall.ts'
import { nat } from './commands/networks/nat.ts'
import { network } from './commands/networks/network.ts'
import { publication } from './commands/networks/publish.ts'
import { route } from './commands/networks/route.ts'
import { login } from './commands/profiles/login.ts'
import { profileCommands } from './commands/profiles/profiles.ts'
import { secondFactor } from './commands/profiles/second-factor.ts'
import { cloudServer } from './commands/servers/cloud-server.ts'
import { consoleServer } from './commands/servers/console-server.ts'
import { networkServer } from './commands/servers/network-server.ts'
import { vmd } from './commands/servers/vmd.ts'
import { workflowEgress, workflowServer } from './commands/servers/workflow-server.ts'
import { templateBuild } from './commands/templates/template-build.ts'
import { template } from './commands/templates/template.ts'
import { readVersion, version } from './commands/version.ts'
import { address } from './commands/vm/address.ts'
import { clone } from './commands/vm/clone.ts'
import { openConsole } from './commands/vm/console.ts'
import { create } from './commands/vm/create.ts'
import { exec } from './commands/vm/exec.ts'
import { forward } from './commands/vm/forward.ts'
import { info } from './commands/vm/info.ts'
import { list } from './commands/vm/list.ts'
import { logs } from './commands/vm/logs.ts'
import { power } from './commands/vm/power.ts'
import { rm } from './commands/vm/rm.ts'
import { set } from './commands/vm/set.ts'
import { share } from './commands/vm/share.ts'
import { snapshot } from './commands/vm/snapshot.ts'
import { ssh } from './commands/vm/ssh.ts'
import { usage } from './commands/vm/usage.ts'
import { workflowRuns } from './commands/workflow/workflow-runs.ts'
import { workflow } from './commands/workflow/workflow.ts'
import { complete } from './help/complete.ts'
import { groupHelp, helpOf, overview } from './help/help.ts'
import { manPage } from './help/man-page.ts'

/** These two read the list of all commands, so they are defined beside it. */
const informing: readonly Command[] = [
  command({
    name: 'complete',
    usage: '[WORDS...]',
    summary: 'print completions for a partial command line, for the completion scripts',
    examples: ["skerry complete -- start ''"],
    next: 'skerry completion bash prints the script that calls this',
    asks: 'none',
    async run(context, { words }) {
      for (const each of await complete(context, commands, words)) context.print(each)
    },
  }),
  command({
    name: 'help',
    usage: '[COMMAND...]',
    summary: 'list all commands, or show the help of one or of a group',
    examples: ['skerry help', 'skerry help share', 'skerry help share add', 'skerry help --man'],
    next: 'skerry COMMAND --help',
    asks: 'none',
    options: {
      man: { type: 'boolean', doc: 'print the full manual as a man page, for man -l' },
    },
    async run({ print, today }, { words, options: { man } }) {
      if (man === true) print(manPage(commands, await readVersion(), today()))
      else print(pageOf(words))
    },
  }),
]

/** The page of a command or a group, or of all. */
function pageOf(words: readonly string[]): string {
  const name = words.join(' ')
  if (name === '') return overview(commands)
  return isGroup(commands, name)
    ? groupHelp(commands, name)
    : helpOf(findCommand(commands, words)[0])
}

/** All commands, in the order of the man page; help.ts groups them for the overview. */
export const commands: readonly Command[] = [
  up,
  down,
  vmd,
  cloudServer,
  consoleServer,
  workflowServer,
  workflowEgress,
  networkServer,
  doctor,
  ui,
  login,
  ...profileCommands,
  ...secondFactor,
  list,
  info,
  usage,
  create,
  clone,
  set,
  ...power,
  rm,
  address,
  ssh,
  openConsole,
  exec,
  logs,
  ...share,
  ...snapshot,
  ...forward,
  templateBuild,
  ...template,
  followEvents,
  exportEvents,
  verifyEvents,
  ...resourceCommands,
  ...vmBulk,
  ...label,
  ...vapp,
  ...network,
  ...connections,
  ...publication,
  ...edge,
  ...nat,
  ...firewall,
  ...route,
  ...externalAddresses,
  ...external,
  ...securityGroup,
  ...task,
  ...access,
  ...user,
  ...role,
  ...token,
  ...identity,
  ...webhook,
  ...quota,
  orgUsage,
  ...administration,
  ...workflow,
  ...workflowRuns,
  ...admin,
  completion,
  version,
  ...informing,
]
