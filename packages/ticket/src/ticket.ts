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

/** Why the database ends a screen. SQL writes the code only (`why_no_screen`, `renew_consoles`, `end_access_of_account`). */
interface Reason {
  /** The VM's boot ended, the user lost the right, or the console process was silent. */
  readonly cause: 'vm' | 'right' | 'silence'
  /** The text for the user. */
  readonly words: string
}

/** A screen that must be closed now. */
export interface EndedConsole extends Reason {
  readonly console: string
  /** The code of the reason, as in the event `console.closed` where the database ended the screen. */
  readonly why: string
}

const vm = (words: string): Reason => ({ cause: 'vm', words })
const right = (words: string): Reason => ({ cause: 'right', words })

/** Every code, with the words for it. */
export const reasons: Readonly<Record<string, Reason>> = {
  'vm-deleted': vm('the VM was deleted'),
  'vm-lost': vm('the VM is lost'),
  'vm-suspended': vm('the VM was suspended'),
  'vm-powered-off': vm('the VM was powered off'),
  'vm-restarted': vm('the VM was restarted'),
  'user-removed': right('the user was removed'),
  'user-disabled': right('the user was disabled'),
  'user-lapsed': right('the identity server of the user gives no access any more'),
  'new-password': right('the user has a new password'),
  'org-disabled': right('the organisation of the user was disabled'),
  'no-permission': right('the user has no permission for this screen'),
  'closed-by-administrator': right('an administrator closed this screen'),
  'console-silent': { cause: 'silence', words: 'the console was silent for too long' },
}

/**
 * A newer database may send a code that this program does not know. A new ticket then says what is wrong. A database that was not
 * migrated yet sends the words.
 */
export const reasonOf = (code: string): Reason =>
  reasons[code] ??
  Object.values(reasons).find(({ words }) => words === code) ?? {
    cause: 'silence',
    words: `the cloud ended this screen: ${code}`,
  }
