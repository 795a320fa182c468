import type { HostId, VmId } from '@skerry/vm'

/** A screen: a VM, one boot of its QEMU process, on one host. The console needs no other table. */
export interface Screen {
  readonly vm: VmId
  /** The name of the VM. */
  readonly name: string
  readonly boot: string
  readonly host: HostId
  /** Address of the host's API. */
  readonly address: string
  readonly port: number
}

/** The result of a redeemed ticket. */
export interface Redeemed {
  /** The id of this open screen, for renewing and closing it. */
  readonly console: string
  readonly screen: Screen
}

/** A screen that a console process shows now. */
export interface OpenConsole {
  readonly console: string
  /** Bytes transferred so far in both directions. */
  readonly bytes: number
}

/** A screen that must be closed now, with the reason as text for the user. */
export interface EndedConsole {
  readonly console: string
  readonly why: string
  readonly cause: Cause
}

/** The cause of the end: the VM's boot ended, the user lost the right, or the console process was silent. */
export type Cause = 'vm' | 'right' | 'silence'

/** The reasons of the database (`why_no_screen` in the cloud's migration), and the cause of each. The texts must match the migration. */
export const endings: Readonly<Record<string, Cause>> = {
  'the VM was deleted': 'vm',
  'the VM is lost': 'vm',
  'the VM was suspended': 'vm',
  'the VM was powered off': 'vm',
  'the VM was restarted': 'vm',
  'the user was removed': 'right',
  'the user was disabled': 'right',
  'the user has a new password': 'right',
  'the organisation of the user was disabled': 'right',
  'the user has no permission for this screen': 'right',
  'the console was silent for too long': 'silence',
}
