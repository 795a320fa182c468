/** The owner of a VM: each API of a host sees only its own VMs. */
export const owners = ['local', 'cloud'] as const

export type Owner = (typeof owners)[number]
