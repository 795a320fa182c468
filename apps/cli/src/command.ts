import type { CloudSide } from './cloud-side.ts'
import type { LocalClient } from './local-client.ts'
import type { ProfileStore } from './profiles.ts'
import type { Verbs } from './verbs.ts'
import type { WorkflowAccess } from './workflow-client.ts'

/** Everything a command may touch, handed in: main.ts holds the real ones, tests their own. */
export interface World {
  /** What can be done to VMs, at the place that the profile says. */
  readonly verbs: Verbs
  /** vmd of this machine. */
  readonly api: LocalClient
  /** The cloud of the profile; undefined on this machine. */
  readonly cloud: CloudSide | undefined
  readonly profiles: ProfileStore
  /** The same at another place: that of a profile, or of the active one. */
  readonly at: (on: string | undefined) => Promise<World>
  /** What this machine is called. */
  readonly machineName: string
  /** A word that nobody should see: typed without being shown, or the first line of standard input. */
  readonly readSecret: (prompt: string) => Promise<string>
  /** A line, or a text of several, on standard output. */
  readonly print: (text: string) => void
  /** The same without the end of the line: bytes of a guest as they came. */
  readonly write: (text: string) => void
  /** A line on standard error. */
  readonly complain: (text: string) => void
  /** Standard error, when it is a terminal that a progress line can be drawn on. */
  readonly screen: Screen | undefined
  /** Whether standard output is a terminal, which may have colours. */
  readonly colours: boolean
  /** Milliseconds that only go forward. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  /** Calls this at the next Ctrl-C, in place of ending; answers how to leave it at that. */
  readonly onInterrupt: (hear: () => void) => () => void
  /** Runs a program with our own terminal and answers its exit code. */
  readonly runProgram: (command: string, args: readonly string[]) => Promise<number>
  /** Runs a program that nobody sees; `hear` gets each line it says, and a Failure its last words. */
  readonly runQuietly: (
    command: string,
    args: readonly string[],
    hear?: (line: string) => void,
  ) => Promise<void>
  /** Whether somebody listens there now. */
  readonly listens: (address: string, port: number) => Promise<boolean>
  /** The line that opens an address, as $BROWSER or as this desktop has it; undefined where there is nothing to see it on. */
  readonly browser: string | undefined
  /** Where a workflow server is, and who asks it, as the environment says. */
  readonly workflows: WorkflowAccess
  /** All of standard input. */
  readonly readInput: () => Promise<string>
  readonly uid: number
  /** The day that a page written now bears. */
  readonly today: () => Date
  /** Where programs are looked for. */
  readonly path: string
  /** Where things are kept that take long to make. */
  readonly cache: string
  /** 256 bits that nobody can guess, as a word. */
  readonly secret: () => string
  /** Whether a person says yes; nobody does where there is no terminal. */
  readonly confirm: (question: string) => Promise<boolean>
  /** Resolves when the person has seen enough (Ctrl-C), or the program is told to end. */
  readonly told: () => Promise<void>
}

export interface Screen {
  readonly columns: number
  readonly write: (text: string) => void
}

export interface Option {
  readonly type: 'boolean' | 'string'
  readonly doc: string
  /** What stands for the value in the help. */
  readonly value?: string
  /** May be given several times. */
  readonly multiple?: true
}
export type Options = Readonly<Record<string, Option>>

type Value<O extends Option> = O['type'] extends 'boolean'
  ? boolean
  : O extends { multiple: true }
    ? readonly string[]
    : string
export type Values<All extends Options> = { readonly [Name in keyof All]?: Value<All[Name]> }

export interface Args<All extends Options = {}> {
  /** One word for each one of the usage; those that may be left out are then undefined. */
  readonly words: readonly string[]
  readonly options: Values<All>
  readonly json: boolean
}

/** One row of the command line: help, completion and the parser are made from it. */
export interface Command {
  /** 'list', or two words: 'share add'. */
  readonly name: string
  /**
   * The words after the name: `VM` must be there, `[NAME]` may be left out, `COMMAND...` is all the rest.
   * A word such as VM, TEMPLATE or PROFILE is completed by names of these.
   */
  readonly usage: string
  readonly summary: string
  /** Whole lines as they are typed, the commonest first. */
  readonly examples: readonly string[]
  /** What is mostly done after it. */
  readonly next: string
  /** What its exit code tells beyond the five that all commands have. */
  readonly exits?: string
  readonly options: Options
  /** Whom it asks: vmd or a cloud, as the profile says, unless it is told otherwise. */
  readonly asks?: 'vmd' | 'cloud' | 'nobody'
  /** Of what asks vmd alone: what to do with a VM of a cloud instead. */
  readonly instead?: string
  /** Answers the exit code when it is another program's. */
  run(world: World, args: Args<Options>): Promise<number | void>
}

/** Rows infer what their options hold. */
export const command = <const All extends Options>(
  row: Omit<Command, 'run' | 'options'> & {
    readonly options?: All
    run(world: World, args: Args<All>): Promise<number | void>
  },
): Command => ({ options: {}, ...row })

export interface Place {
  readonly name: string
  readonly needed: boolean
  readonly rest: boolean
}

/** The places of a usage: 'VM [NAME]' has two, of which the second may stay empty. */
export const places = (usage: string): readonly Place[] =>
  usage
    .split(' ')
    .filter((word) => word !== '' && word !== '--')
    .map((word) => ({
      name: word.replace(/[[\].]/g, ''),
      needed: !word.startsWith('['),
      rest: word.includes('...'),
    }))
