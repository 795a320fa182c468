import { query, TaskFailed, type Record as Found } from '@skerry/cloud-client'
import { renderTable, type OptionValues, type TableColumn } from '@skerry/command-line'
import { attribute } from '@skerry/xml'

import { idIn } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type CliContext, type Command } from '../../command.ts'
import { printResult } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

/** An action on all VMs that match a filter, in one request to the cloud. */
interface BulkRow {
  readonly verb: string
  /** The action in the address. */
  readonly action: string
  readonly summary: string
  /** Progress label, and the word in the question. */
  readonly label: string
  /** Past participle: 'started'. */
  readonly done: string
  readonly next: string
  /** With --force: this action instead. */
  readonly force?: Pick<BulkRow, 'action' | 'label' | 'done'>
}

const rows: readonly BulkRow[] = [
  {
    verb: 'start',
    action: 'powerOn',
    label: 'starting',
    done: 'started',
    summary: 'start all VMs of a cloud that match a filter',
    next: 'skerry vm list shows their states',
  },
  {
    verb: 'stop',
    action: 'shutdown',
    label: 'stopping',
    done: 'stopped',
    summary: 'shut down the guests of all VMs of a cloud that match a filter',
    next: 'skerry vm stop --filter FILTER --force if guests do not respond',
    force: { action: 'powerOff', label: 'turning off', done: 'turned off' },
  },
  {
    verb: 'suspend',
    action: 'suspend',
    label: 'suspending',
    done: 'suspended',
    summary: 'save the memory of all VMs of a cloud that match a filter, and stop them',
    next: 'skerry vm start --filter FILTER resumes them',
  },
  {
    verb: 'reset',
    action: 'reset',
    label: 'resetting',
    done: 'reset',
    summary: 'reset all VMs of a cloud that match a filter, without asking the guests',
    next: 'skerry console VM shows how one boots',
  },
  {
    verb: 'reboot',
    action: 'reboot',
    label: 'rebooting',
    done: 'rebooted',
    summary: 'ask the guests of all VMs of a cloud that match a filter to reboot',
    next: 'skerry ssh VM once they are up again',
  },
  {
    verb: 'rm',
    action: 'delete',
    label: 'deleting',
    done: 'deleted',
    summary: 'delete all VMs of a cloud that match a filter, with their disks; they must be off',
    next: 'skerry vm list lists the others',
  },
]

const bulkOptions = {
  filter: {
    type: 'string',
    value: 'FILTER',
    doc: 'the VMs, in the syntax of the query API; skerry vm list --filter shows them',
  },
  expect: {
    type: 'string',
    value: 'N',
    doc: 'refuse if another number of VMs matches (default: the number that is shown)',
  },
  yes: { type: 'boolean', doc: 'do not ask for confirmation' },
  ...waitOptions,
} as const

const forceOption = {
  force: { type: 'boolean', doc: 'power off at once, without asking the guests' },
} as const

const bulkCommand = ({ verb, summary, next, force, ...plain }: BulkRow): Command =>
  command({
    name: `vm ${verb}`,
    asks: 'cloud',
    usage: '',
    summary,
    next,
    examples: [
      `skerry vm ${verb} --filter 'name==web*'`,
      `skerry vm ${verb} --filter 'containerName==shop' --expect 12 --yes`,
    ],
    options: { ...bulkOptions, ...(force && forceOption) },
    async run(context, { options, json }) {
      const { filter, yes, ...rest } = options as OptionValues<
        typeof bulkOptions & typeof forceOption
      >
      if (filter === undefined) {
        throw new Failure('usage', 'give --filter FILTER', {
          hint: `skerry vm ${verb} --filter 'name==web*'; skerry vm list --filter shows which VMs match`,
        })
      }
      const act = rest.force === true && force ? force : plain
      const side = sessionIn(context)
      const expect = wholeNumber('--expect', rest.expect) ?? (await countOf(side, filter))
      if (expect === 0) {
        throw new Failure('refused', `no VM matches ${filter}`, { hint: 'skerry vm list' })
      }
      const question = `${act.label} ${expect} VMs that match ${filter}: continue?`
      if (yes !== true && !(await context.confirm(question))) {
        throw new Failure('refused', `not confirmed: ${expect} VMs match, and none was changed`, {
          hint: 'repeat with --yes; skerry vm list --filter shows the VMs',
        })
      }
      const which = new URLSearchParams({ type: 'vm', filter, expect: String(expect) })
      const address = `/api/query/action/${act.action}?${which.toString()}`
      const task = await side.cloud.act('POST', address)
      const id = idIn(attribute(task, 'href'))
      if (!wantsWait(rest))
        return printResult(context, json, underWay(`${act.label} ${expect} VMs`, id))
      await showProgress(context, `${act.label} ${expect} VMs`, (report) =>
        untilEnded(follow(side, task, { wait: true, report })),
      )
      return printResults(context, side, { id, total: expect, done: act.done, json })
    },
  })

/** The number of VMs that match now. */
async function countOf({ cloud }: CloudSession, filter: string): Promise<number> {
  const which = new URLSearchParams({ type: 'vm', filter, pageSize: '1', fields: 'name' })
  return Number(attribute(await cloud.get(`/api/query?${which.toString()}`), 'total') ?? 0)
}

/** The task fails if one VM failed: the results of all are printed anyway. */
async function untilEnded(following: Promise<unknown>): Promise<void> {
  try {
    await following
  } catch (error) {
    if (!(error instanceof TaskFailed)) throw error
  }
}

const columns: readonly TableColumn<Found>[] = [
  { head: 'NAME', cell: ({ objectName = '' }) => objectName },
  {
    head: 'RESULT',
    cell: ({ status = '' }) => status,
    colour: ({ status }) => (status === 'error' ? 'red' : 'yellow'),
  },
  { head: 'REASON', cell: ({ message = '' }) => message },
]

interface BulkResult {
  readonly id: string
  readonly total: number
  readonly done: string
  readonly json: boolean
}

/** Prints the VMs that failed, with the reason; as JSON all of them. Returns the exit code. */
async function printResults(
  context: CliContext,
  { cloud }: CloudSession,
  { id, total, done, json }: BulkResult,
): Promise<number> {
  const found = await Array.fromAsync(
    query(cloud, {
      type: 'task',
      filter: json ? `parent==${id}` : `parent==${id};status!=success`,
      fields: ['objectName', 'object', 'status', 'message'],
    }),
  )
  const failed = found.filter(({ status }) => status !== 'success')
  const code = failed.length === 0 ? 0 : 1
  if (json) {
    const results = found.map(({ objectName = '', object, status = '', message }) => ({
      name: objectName,
      ...(object !== undefined && { vm: idIn(object) }),
      status,
      ...(message !== undefined && { reason: message }),
    }))
    const task = { id, status: code === 0 ? 'success' : 'error' }
    context.print(JSON.stringify({ task, total, failed: failed.length, results }, null, 2))
    return code
  }
  const rest = total - failed.length
  context.print(
    code === 0 ? `${total} VMs are ${done}` : `${rest} of ${total} VMs are ${done}; the others:`,
  )
  if (code !== 0) context.print(renderTable(columns, failed, context.colours))
  return code
}

export const vmBulk: readonly Command[] = rows.map(bulkCommand)
