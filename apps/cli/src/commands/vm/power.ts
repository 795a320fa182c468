import type { Options, OptionValues } from '@skerry/command-line'

import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import type { PowerWord } from '../../vms/vm-backend.ts'

interface PowerRow<All extends Options> {
  readonly name: string
  readonly summary: string
  readonly next: string
  readonly examples?: readonly string[]
  /** Progress label. */
  readonly label: string
  readonly word: PowerWord | ((options: OptionValues<All>) => PowerWord)
  readonly options?: All
}

const row = <const All extends Options>({ label, word, ...rest }: PowerRow<All>): Command =>
  command({
    usage: 'VM',
    examples: [`skerry ${rest.name} web`],
    ...rest,
    options: { ...rest.options, ...waitOptions },
    async run(context, { words: [vm = ''], options, json }) {
      const requested = typeof word === 'string' ? word : word(options as OptionValues<All>)
      const how = { label: `${label} ${vm}`, wait: wantsWait(options), json }
      await doAndSay(context, how, (doing) => context.verbs.power(vm, requested, doing))
    },
  })

/** Reset and reboot leave the power state unchanged, so they are not in the power table. */
const again = (name: 'reset' | 'reboot', summary: string, next: string): Command =>
  command({
    name,
    usage: 'VM',
    summary,
    examples: [`skerry ${name} web`],
    next,
    options: waitOptions,
    async run(context, { words: [vm = ''], options, json }) {
      const how = { label: `restarting ${vm}`, wait: wantsWait(options), json }
      await doAndSay(context, how, (doing) => context.verbs.restart(vm, name, doing))
    },
  })

export const power: readonly Command[] = [
  row({
    name: 'start',
    summary: 'start a VM, or resume a suspended one',
    next: 'skerry ssh VM, or skerry address VM --wait',
    label: 'starting',
    word: 'on',
  }),
  row({
    name: 'stop',
    summary: 'shut down the guest and wait until it is off',
    examples: ['skerry stop web', 'skerry stop web --force'],
    next: 'skerry start VM starts it again; skerry rm VM deletes it',
    label: 'stopping',
    word: ({ force }) => (force === true ? 'off' : 'shutdown'),
    options: { force: { type: 'boolean', doc: 'power off at once, without asking the guest' } },
  }),
  row({
    name: 'suspend',
    summary: 'save the memory of a VM to disk and stop it',
    next: 'skerry start VM resumes it',
    label: 'suspending',
    word: 'suspend',
  }),
  row({
    name: 'pause',
    summary: 'pause a VM; its memory stays in RAM',
    next: 'skerry unpause VM resumes it',
    label: 'pausing',
    word: 'pause',
  }),
  row({
    name: 'unpause',
    summary: 'resume a paused VM',
    next: 'skerry ssh VM logs in',
    label: 'unpausing',
    word: 'unpause',
  }),
  again(
    'reset',
    'reset a VM, like its reset button, without asking the guest',
    'skerry logs VM shows how it boots',
  ),
  again('reboot', 'ask the guest to reboot', 'skerry ssh VM once it is up again'),
]
