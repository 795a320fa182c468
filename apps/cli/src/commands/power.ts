import { command, type Command, type Options, type Values } from '../command.ts'
import { doAndSay } from '../say.ts'
import type { PowerWord } from '../verbs.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

interface PowerRow<All extends Options> {
  readonly name: string
  readonly summary: string
  readonly next: string
  readonly examples?: readonly string[]
  /** What the person reads while it is done. */
  readonly label: string
  readonly word: PowerWord | ((options: Values<All>) => PowerWord)
  readonly options?: All
}

const row = <const All extends Options>({ label, word, ...told }: PowerRow<All>): Command =>
  command({
    usage: 'VM',
    examples: [`skerry ${told.name} web`],
    ...told,
    options: { ...told.options, ...waitOptions },
    async run(world, { words: [vm = ''], options, json }) {
      const asked = typeof word === 'string' ? word : word(options as Values<All>)
      const how = { label: `${label} ${vm}`, wait: wantsWait(options), json }
      await doAndSay(world, how, (doing) => world.verbs.power(vm, asked, doing))
    },
  })

/** These two leave the state as it is, so they are no words of the power table. */
const again = (name: 'reset' | 'reboot', summary: string, next: string): Command =>
  command({
    name,
    usage: 'VM',
    summary,
    examples: [`skerry ${name} web`],
    next,
    options: waitOptions,
    async run(world, { words: [vm = ''], options, json }) {
      const how = { label: `starting ${vm} anew`, wait: wantsWait(options), json }
      await doAndSay(world, how, (doing) => world.verbs.startAnew(vm, name, doing))
    },
  })

export const power: readonly Command[] = [
  row({
    name: 'start',
    summary: 'turn a VM on, or wake a suspended one',
    next: 'skerry ssh VM, or skerry ip VM --wait',
    label: 'starting',
    word: 'on',
  }),
  row({
    name: 'stop',
    summary: 'ask the guest to shut down, and wait for it',
    examples: ['skerry stop web', 'skerry stop web --force'],
    next: 'skerry start VM turns it on again; skerry rm VM deletes it',
    label: 'stopping',
    word: ({ force }) => (force === true ? 'off' : 'shutdown'),
    options: { force: { type: 'boolean', doc: 'pull the plug instead of asking' } },
  }),
  row({
    name: 'suspend',
    summary: 'save the memory to disk and stop',
    next: 'skerry start VM wakes it where it was',
    label: 'suspending',
    word: 'suspend',
  }),
  row({
    name: 'pause',
    summary: 'stand still, memory kept',
    next: 'skerry unpause VM lets it go on',
    label: 'pausing',
    word: 'pause',
  }),
  row({
    name: 'unpause',
    summary: 'go on after a pause',
    next: 'skerry ssh VM logs in',
    label: 'unpausing',
    word: 'unpause',
  }),
  again(
    'reset',
    'start the guest anew as the button does, without asking it',
    'skerry logs VM shows how it starts',
  ),
  again('reboot', 'ask the guest to start anew', 'skerry ssh VM, when it is up again'),
]
