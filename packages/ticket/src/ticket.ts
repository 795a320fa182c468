import type { HostId, VmId } from '@skerry/vm'

/** Which screen: this VM, this life of its QEMU process, at this host. The console needs no other table. */
export interface Screen {
  readonly vm: VmId
  /** What people call it. */
  readonly name: string
  readonly boot: string
  readonly host: HostId
  /** Where the host is asked. */
  readonly address: string
  readonly port: number
}

/** What a ticket was good for. */
export interface Redeemed {
  /** This opening of the screen, by which it is renewed and closed. */
  readonly console: string
  readonly screen: Screen
}

/** A screen that a console process shows to somebody now. */
export interface OpenConsole {
  readonly console: string
  /** Bytes that went either way so far. */
  readonly bytes: number
}

/** One that must be closed now, and why, in words for the person who looks at it. */
export interface Ended {
  readonly console: string
  readonly why: string
  readonly cause: Cause
}

/** What it was that ended: the VM's life, the user's right to see it, or the database's trust in the process. */
export type Cause = 'vm' | 'right' | 'silence'

/** The words of the database (migration 0012 of the cloud), and what each is about. */
export const endings: Readonly<Record<string, Cause>> = {
  'the VM was deleted': 'vm',
  'the VM is not there any more': 'vm',
  'the VM was suspended': 'vm',
  'the VM was powered off': 'vm',
  'the VM was started anew': 'vm',
  'the user was removed': 'right',
  'the user was disabled': 'right',
  'the organisation of the user was disabled': 'right',
  'the user has no right to this screen any more': 'right',
  'the console was silent for too long': 'silence',
}
