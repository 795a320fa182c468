import type { Args, CommandDeclaration, Options } from '@skerry/command-line'

import type { ProfileStore } from './profiles/profiles.ts'
import type { TerminalScreen } from './terminal/terminal-screen.ts'
import type { CloudSession } from './vms/cloud-session.ts'
import type { LocalClient } from './vms/local-client.ts'
import type { VmBackend } from './vms/vm-backend.ts'
import type { WorkflowAccess } from './vms/workflow-access.ts'

/** Everything a command may use, injected: main.ts passes the real ones, tests their own. */
export interface CliContext {
  /** Operations on VMs, at the target of the profile. */
  readonly verbs: VmBackend
  /** Client of vmd on this machine. */
  readonly api: LocalClient
  /** The cloud of the profile; undefined when the target is this machine. */
  readonly cloud: CloudSession | undefined
  readonly profiles: ProfileStore
  /** The same context for another profile; undefined means the active one. */
  readonly at: (on: string | undefined) => Promise<CliContext>
  /** Host name of this machine. */
  readonly machineName: string
  /** Reads a secret: typed without echo, or the first line of standard input. */
  readonly readSecret: (prompt: string) => Promise<string>
  /** Prints one or more lines to standard output. */
  readonly print: (text: string) => void
  /** Writes to standard output without a newline, for a guest's output as it came. */
  readonly write: (text: string) => void
  /** Prints a line to standard error. */
  readonly complain: (text: string) => void
  /** Standard error if it is a terminal, where a progress line can be drawn. */
  readonly screen: TerminalScreen | undefined
  /** Whether to print colours: standard output is a terminal and NO_COLOR is not set. */
  readonly colours: boolean
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  /** Calls `hear` at the next Ctrl-C instead of exiting; returns a function that removes the handler. */
  readonly onInterrupt: (hear: () => void) => () => void
  /** Runs a program with our own terminal and returns its exit code. */
  readonly runProgram: (command: string, args: readonly string[]) => Promise<number>
  /** Runs a program without a terminal; `hear` gets each line of its standard error, and a Failure has the last one. */
  readonly runQuietly: (
    command: string,
    args: readonly string[],
    hear?: (line: string) => void,
  ) => Promise<void>
  /** Whether the address and port accept connections now. */
  readonly listens: (address: string, port: number) => Promise<boolean>
  /** The command that opens a URL: $BROWSER, or the desktop's own; undefined without a display. */
  readonly browser: string | undefined
  /** URL and credentials of a workflow server, from the environment. */
  readonly workflows: WorkflowAccess
  /** All of standard input. */
  readonly readInput: () => Promise<string>
  readonly uid: number
  /** The date printed on a generated page. */
  readonly today: () => Date
  /** $PATH. */
  readonly path: string
  /** Cache directory for files that take long to build. */
  readonly cache: string
  /** A random 256-bit secret, base64url-encoded. */
  readonly secret: () => string
  /** Asks the user a yes/no question; false without a terminal. */
  readonly confirm: (question: string) => Promise<boolean>
  /** Resolves at Ctrl-C, or when the process gets SIGTERM or SIGHUP. */
  readonly interrupted: () => Promise<void>
}

/** One command: its declaration, and what it does. */
export interface Command extends CommandDeclaration {
  /** Which server it needs: vmd, a cloud, or 'none'. Default: vmd or a cloud, by the profile. */
  readonly asks?: 'vmd' | 'cloud' | 'none'
  /** For commands that need vmd: the alternative for a VM in a cloud. */
  readonly instead?: string
  /** It runs in a program of its own: a server parses its own options, a command of `skerry admin` gets the parsed ones. */
  readonly program?: 'server' | 'admin'
  /** Returns an exit code if it ran another program. */
  run(context: CliContext, args: Args): Promise<number | void>
}

/** Infers the option types of a command. */
export const command = <const All extends Options = {}>(
  row: Omit<Command, 'run' | 'options'> & {
    readonly options?: All
    run(context: CliContext, args: Args<All>): Promise<number | void>
  },
): Command => ({ options: {}, ...row })
