import { linkOf, linkTo, taskIn } from '@skerry/cloud-client'
import { attribute, element } from '@skerry/xml'

import { actOn } from '../cloud-act.ts'
import { kinds, oneNamed } from '../cloud-named.ts'
import { sideIn, type CloudSide } from '../cloud-side.ts'
import { follow, underWay } from '../cloud-task.ts'
import { command, type Command } from '../command.ts'
import { doAndSay } from '../say.ts'
import type { Doing, Told } from '../verbs.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

interface VappPower {
  readonly verb: string
  readonly rel: string
  readonly summary: string
  readonly label: string
  readonly done: string
  readonly next: string
}

const powers: readonly VappPower[] = [
  {
    ...{ verb: 'start', rel: 'power:powerOn', label: 'starting', done: 'turned on' },
    summary: 'turn all VMs of a vApp on, in their order',
    next: 'skerry list shows their addresses',
  },
  {
    ...{ verb: 'stop', rel: 'power:shutdown', label: 'stopping', done: 'shut down' },
    summary: 'ask all guests of a vApp to shut down',
    next: 'skerry vapp off VAPP, where a guest does not listen',
  },
  {
    ...{ verb: 'off', rel: 'power:powerOff', label: 'turning off', done: 'turned off' },
    summary: 'pull the plug of all VMs of a vApp',
    next: 'skerry vapp start VAPP turns them on again',
  },
  {
    ...{ verb: 'suspend', rel: 'power:suspend', label: 'suspending', done: 'suspended' },
    summary: 'save the memory of all VMs of a vApp to disk, and stop them',
    next: 'skerry vapp start VAPP wakes them where they were',
  },
  {
    ...{ verb: 'reset', rel: 'power:reset', label: 'resetting', done: 'started anew' },
    summary: 'start all guests of a vApp anew, without asking them',
    next: 'skerry console VM shows how one starts',
  },
  {
    ...{ verb: 'reboot', rel: 'power:reboot', label: 'rebooting', done: 'started anew' },
    summary: 'ask all guests of a vApp to start anew',
    next: 'skerry ssh VM, when they are up again',
  },
]

const powerRow = ({ verb, rel, label, done, summary, next }: VappPower): Command =>
  command({
    ...{
      name: `vapp ${verb}`,
      usage: 'VAPP',
      summary,
      next,
      examples: [`skerry vapp ${verb} shop`],
    },
    asks: 'cloud',
    options: waitOptions,
    async run(world, { words: [word = ''], options, json }) {
      const side = sideIn(world)
      const how = { label: `${label} ${word}`, wait: wantsWait(options), json }
      await doAndSay(world, how, async (doing) => {
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
  next: 'skerry vapp list shows what is left',
  options: { force: { type: 'boolean', doc: 'pull the plugs first' }, ...waitOptions },
  async run(world, { words: [word = ''], options, json }) {
    const side = sideIn(world)
    const how = { label: `deleting ${word}`, wait: wantsWait(options), json }
    await doAndSay(world, how, async (doing) => {
      const { href } = await oneNamed(side, kinds.vapp, word)
      const off = linkOf(await side.cloud.get(href), 'power:powerOff')
      if (options.force === true && off !== undefined) {
        await follow(side, await side.cloud.act('POST', off), doing)
      }
      const act = {
        kind: kinds.vapp,
        href,
        rel: 'remove',
        method: 'DELETE',
        done: 'deleted',
      } as const
      return actOn(side, act, doing)
    })
  },
})

const clone = command({
  name: 'vapp clone',
  asks: 'cloud',
  usage: 'VAPP NAME',
  summary: 'a new vApp as a copy of another, whose VMs must be off',
  examples: ['skerry vapp clone shop shop-2'],
  next: 'skerry vapp start NAME turns the copy on',
  options: waitOptions,
  async run(world, { words: [word = '', name = ''], options, json }) {
    const side = sideIn(world)
    const how = { label: `copying ${word}`, wait: wantsWait(options), json }
    await doAndSay(world, how, (doing) => copy(side, word, name, doing))
  },
})

async function copy(side: CloudSide, word: string, name: string, doing: Doing): Promise<Told> {
  const { href } = await oneNamed(side, kinds.vapp, word)
  const vdc = await side.cloud.get(linkTo(await side.cloud.get(href), 'up', 'vdc'))
  const body = element('CloneVAppParams', { name }, element('Source', { href }))
  const made = await side.cloud.act('POST', linkTo(vdc, 'add', 'cloneVAppParams'), { body })
  const begun = await follow(side, made && taskIn(made), doing)
  if (begun && !begun.ended) return underWay(`vApp ${name}`, begun.id)
  const next = `skerry vapp start ${name}`
  return {
    text: `${name} is made from ${word}`,
    body: { name, href: attribute(made, 'href') },
    next,
  }
}

export const vapp: readonly Command[] = [...powers.map(powerRow), rm, clone]
