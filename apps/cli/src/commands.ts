import { command, type Command } from './command.ts'
import { administration } from './commands/administration.ts'
import { clone } from './commands/clone.ts'
import { cloud } from './commands/cloud.ts'
import { completion } from './commands/completion.ts'
import { consoleServer } from './commands/console-server.ts'
import { openConsole } from './commands/console.ts'
import { create } from './commands/create.ts'
import { doctor } from './commands/doctor.ts'
import { down } from './commands/down.ts'
import { events } from './commands/events.ts'
import { exec } from './commands/exec.ts'
import { forward } from './commands/forward.ts'
import { info } from './commands/info.ts'
import { ip } from './commands/ip.ts'
import { list } from './commands/list.ts'
import { login } from './commands/login.ts'
import { logs } from './commands/logs.ts'
import { power } from './commands/power.ts'
import { profileCommands } from './commands/profiles.ts'
import { quota } from './commands/quota.ts'
import { rm } from './commands/rm.ts'
import { set } from './commands/set.ts'
import { share } from './commands/share.ts'
import { snapshot } from './commands/snapshot.ts'
import { ssh } from './commands/ssh.ts'
import { task } from './commands/task.ts'
import { templateBuild } from './commands/template-build.ts'
import { template } from './commands/template.ts'
import { thingCommands } from './commands/things.ts'
import { up } from './commands/up.ts'
import { user } from './commands/user.ts'
import { vapp } from './commands/vapp.ts'
import { readVersion, version } from './commands/version.ts'
import { vmd } from './commands/vmd.ts'
import { workflowRuns } from './commands/workflow-runs.ts'
import { workflowEgress, workflowServer } from './commands/workflow-server.ts'
import { workflow } from './commands/workflow.ts'
import { complete } from './complete.ts'
import { helpOf, overview } from './help.ts'
import { manPage } from './man-page.ts'
import { findCommand } from './run-command.ts'

/** These two tell of all others, so they stand where all others are listed. */
const telling: readonly Command[] = [
  command({
    name: 'complete',
    usage: '[WORDS...]',
    summary: 'what may come next on a line, for the completion scripts',
    examples: ["skerry complete -- start ''"],
    next: 'skerry completion bash prints the script that asks this',
    asks: 'nobody',
    async run(world, { words }) {
      for (const each of await complete(world, commands, words)) world.print(each)
    },
  }),
  command({
    name: 'help',
    usage: '[COMMAND...]',
    summary: 'this list, or more about one command',
    examples: ['skerry help', 'skerry help share add', 'skerry help --man'],
    next: 'skerry COMMAND --help',
    asks: 'nobody',
    options: {
      man: { type: 'boolean', doc: 'the whole of it as a man page, to be read by man -l' },
    },
    async run({ print, today }, { words, options: { man } }) {
      if (man === true) print(manPage(commands, await readVersion(), today()))
      else print(words.length === 0 ? overview(commands) : helpOf(findCommand(commands, words)[0]))
    },
  }),
]

/** The whole command line, in the order of the help. */
export const commands: readonly Command[] = [
  up,
  down,
  vmd,
  cloud,
  consoleServer,
  workflowServer,
  workflowEgress,
  doctor,
  login,
  ...profileCommands,
  list,
  info,
  create,
  clone,
  set,
  ...power,
  rm,
  ip,
  ssh,
  openConsole,
  exec,
  logs,
  ...share,
  ...snapshot,
  ...forward,
  templateBuild,
  ...template,
  events,
  ...thingCommands,
  ...vapp,
  ...task,
  ...user,
  ...quota,
  ...administration,
  ...workflow,
  ...workflowRuns,
  completion,
  version,
  ...telling,
]
