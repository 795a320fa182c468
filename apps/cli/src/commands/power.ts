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

function row<const All extends Options>(
  name: string,
  summary: string,
  label: string,
  word: string | ((options: Values<All>) => string),
  options?: All,
): Command {
  return command<All>({
    name,
    usage: 'VM',
    summary,
    ...(options !== undefined && { options }),
    async run(world, { words: [id = ''], options, json }) {
      const asked = typeof word === 'string' ? word : word(options)
      const said = await change(world, id, asked, `${label} ${id}`)
      world.print(json ? JSON.stringify(said, null, 2) : `${id} is ${said.message}`)
    },
  })
}

export const power: readonly Command[] = [
  row('start', 'turn a VM on, or wake a suspended one', 'starting', 'on'),
  row(
    'stop',
    'ask the guest to shut down, and wait for it',
    'stopping',
    ({ force }) => (force === true ? 'off' : 'shutdown'),
    { force: { type: 'boolean', doc: 'pull the plug instead of asking' } },
  ),
  row('suspend', 'save the memory to disk and stop', 'suspending', 'suspend'),
  row('pause', 'stand still, memory kept', 'pausing', 'pause'),
  row('unpause', 'go on after a pause', 'unpausing', 'unpause'),
  ...(['reset', 'reboot'] as const).map((name) =>
    command({
      name,
      usage: 'VM',
      summary:
        name === 'reset'
          ? 'start the guest anew as the button does, without asking it'
          : 'ask the guest to start anew',
      async run({ api, print }, { words: [id = ''], json }) {
        const { body } = await api.ask<Said>('POST', path('vms', id, name))
        print(json ? JSON.stringify(body, null, 2) : `${id} starts anew`)
      },
    }),
  ),
]
