import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import type { Host } from '../host/host.ts'

/** Sends a command to QEMU's monitor, for the few operations that libvirt lacks. */
export async function askMonitor(
  { link }: Host,
  dom: libvirt.Domain,
  execute: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const { result } = await link.call(libvirt.qemuDomainMonitorCommand, {
    dom,
    cmd: JSON.stringify({ execute, arguments: args }),
    flags: 0,
  })
  const answer = JSON.parse(result) as { return?: unknown; error?: { desc?: string } }
  if (answer.error) {
    throw new Fault(
      'unavailable',
      `QEMU rejected ${execute}: ${answer.error.desc ?? 'no reason given'}`,
    )
  }
  return answer.return
}
