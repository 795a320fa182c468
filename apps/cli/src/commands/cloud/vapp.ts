import { linkOf, linkTo, taskIn } from '@skerry/cloud-client'
import { attribute, element } from '@skerry/xml'

import { actOn, remove } from '../../cloud/act.ts'
import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'

interface VappPower {
  readonly verb: string
  readonly rel: string
  readonly summary: string
  readonly label: string
  readonly done: string
  readonly next: string
  /** With --force: this action instead, without asking the guests. */
  readonly force?: Pick<VappPower, 'rel' | 'label' | 'done'>
}

const powers: readonly VappPower[] = [
  {
    verb: 'start',
    rel: 'power:powerOn',
    label: 'starting',
    done: 'turned on',
    summary: 'start all VMs of a vApp, in their start order',
    next: 'skerry list shows their addresses',
  },
  {
    verb: 'stop',
    rel: 'power:shutdown',
    label: 'stopping',
    done: 'shut down',
    summary: 'shut down all guests of a vApp',
    next: 'skerry vapp stop VAPP --force if a guest does not respond',
    force: { rel: 'power:powerOff', label: 'turning off', done: 'turned off' },
  },
  {
    verb: 'suspend',
    rel: 'power:suspend',
    label: 'suspending',
    done: 'suspended',
    summary: 'save the memory of all VMs of a vApp to disk and stop them',
    next: 'skerry vapp start VAPP resumes them',
  },
  {
    verb: 'reset',
    rel: 'power:reset',
    label: 'resetting',
    done: 'reset',
    summary: 'reset all VMs of a vApp, without asking the guests',
    next: 'skerry console VM shows how one boots',
  },
  {
    verb: 'reboot',
    rel: 'power:reboot',
    label: 'rebooting',
    done: 'rebooted',
    summary: 'ask all guests of a vApp to reboot',
    next: 'skerry ssh VM once they are up again',
  },
]

const forceOption = {
  force: { type: 'boolean', doc: 'power off all VMs at once, without asking the guests' },
} as const

const powerRow = ({ verb, summary, next, force, ...asking }: VappPower): Command =>
  command({
    name: `vapp ${verb}`,
    usage: 'VAPP',
    summary,
    next,
    examples: [
      `skerry vapp ${verb} shop`,
      ...(force === undefined ? [] : [`skerry vapp ${verb} shop --force`]),
    ],
    asks: 'cloud',
    options: { ...(force !== undefined && forceOption), ...waitOptions },
    async run(context, { words: [word = ''], options, json }) {
      const side = sessionIn(context)
      const isForced = (options as { readonly force?: unknown }).force === true
      const { rel, label, done } = (isForced && force) || asking
      const how = { label: `${label} ${word}`, wait: wantsWait(options), json }
      await doAndSay(context, how, async (doing) => {
        const { href } = await oneNamed(side, kinds.vapp, word)
        return actOn(side, { kind: kinds.vapp, href, rel, done }, doing)
      })
    },
  })

const rm = command({
  name: 'vapp rm',
  asks: 'cloud',
  usage: 'VAPP',
  summary: 'delete a vApp with all its VMs and their disks',
  examples: ['skerry vapp rm shop', 'skerry vapp rm shop --force'],
  next: 'skerry vapp list lists the others',
  options: { force: { type: 'boolean', doc: 'power off running VMs first' }, ...waitOptions },
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const how = { label: `deleting ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, async (doing) => {
      const { href } = await oneNamed(side, kinds.vapp, word)
      const off = linkOf(await side.cloud.get(href), 'power:powerOff')
      if (options.force === true && off !== undefined) {
        await follow(side, await side.cloud.act('POST', off), doing)
      }
      return remove(side, kinds.vapp, href, doing)
    })
  },
})

const clone = command({
  name: 'vapp clone',
  asks: 'cloud',
  usage: 'VAPP NAME',
  summary: 'copy a vApp; its VMs must be off',
  examples: ['skerry vapp clone shop shop-2'],
  next: 'skerry vapp start NAME starts the copy',
  options: waitOptions,
  async run(context, { words: [word = '', name = ''], options, json }) {
    const side = sessionIn(context)
    const how = { label: `copying ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => copy(side, word, name, doing))
  },
})

async function copy(
  side: CloudSession,
  word: string,
  name: string,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { href } = await oneNamed(side, kinds.vapp, word)
  const vdc = await side.cloud.get(linkTo(await side.cloud.get(href), 'up', 'vdc'))
  const body = element('CloneVAppParams', { name }, element('Source', { href }))
  const made = await side.cloud.act('POST', linkTo(vdc, 'add', 'cloneVAppParams'), { body })
  const begun = await follow(side, made && taskIn(made), doing)
  if (begun && !begun.ended) return underWay(`vApp ${name}`, begun.id)
  const next = `skerry vapp start ${name}`
  return {
    text: `${name} is created from ${word}`,
    body: { name, href: attribute(made, 'href') },
    next,
  }
}

export const vapp: readonly Command[] = [...powers.map(powerRow), rm, clone]
