import { command, type Command, type Options, type Values, type World } from '../command.ts'
import { path } from '../local-client.ts'
import { showProgress } from '../progress.ts'

interface Said {
  readonly code: number
  readonly message: string
}

/** Sends one of the six words and says what the VM is then. */
async function change(world: World, id: string, word: string, label: string): Promise<Said> {
  const where = path('vms', 'power', id)
  return showProgress(
    world,
    label,
    async () => (await world.api.ask<Said>('PATCH', where, { body: word })).body,
  )
}

interface PowerRow<All extends Options> {
  readonly name: string
  readonly summary: string
  readonly next: string
  readonly examples?: readonly string[]
  /** What the person reads while it is done. */
  readonly label: string
  readonly word: string | ((options: Values<All>) => string)
  readonly options?: All
}

const row = <const All extends Options>({ label, word, ...told }: PowerRow<All>): Command =>
  command<All>({
    usage: 'VM',
    examples: [`skerry ${told.name} web`],
    ...told,
    async run(world, { words: [id = ''], options, json }) {
      const asked = typeof word === 'string' ? word : word(options)
      const said = await change(world, id, asked, `${label} ${id}`)
      world.print(json ? JSON.stringify(said, null, 2) : `${id} is ${said.message}`)
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
    async run({ api, print }, { words: [id = ''], json }) {
      const { body } = await api.ask<Said>('POST', path('vms', id, name))
      print(json ? JSON.stringify(body, null, 2) : `${id} starts anew`)
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
