import { useState } from 'react'

import { pathOf } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type { AllocatedAddressesDocument, NetworkDocument } from '../../api/network-documents.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand, shellQuoted } from '../../model/commands.ts'
import { kindOfFence, whyNotIpv6 } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

/** The IPv6 prefix of a network, and its switch. */
export function Ipv6Card({ network }: { readonly network: NetworkDocument }) {
  const [isOpen, setOpen] = useState(false)
  const { makeChange, isPending } = useChange()
  const unavailable = useReason(network)
  const { name, ipv6Prefix } = network
  // What the switch makes of it.
  const isIpv6Enabled = ipv6Prefix === undefined
  const action = isIpv6Enabled ? 'Switch on' : 'Switch off'
  const href = linkOf(network, 'edit') ?? ''
  const body = { isIpv6Enabled }
  const change = (): void => {
    setOpen(false)
    makeChange({
      href,
      method: 'PUT',
      body,
      success: `Switching IPv6 of ${name} ${isIpv6Enabled ? 'on' : 'off'}`,
      failure: `IPv6 of ${name} was not switched`,
    })
  }
  return (
    <Card
      title="IPv6"
      tools={
        <Button
          small
          unavailable={isPending ? 'the change is being sent' : unavailable}
          onClick={() => setOpen(true)}
        >
          {action} IPv6
        </Button>
      }
    >
      <Facts
        rows={[
          ['Prefix', ipv6Prefix ? <span className={page['mono']}>{ipv6Prefix}</span> : 'none'],
        ]}
      />
      {isOpen && (
        <ConfirmDialog
          title={`${action} IPv6 of ${name}`}
          action={action}
          isDangerous={!isIpv6Enabled}
          onClose={() => setOpen(false)}
          onConfirm={change}
        >
          {isIpv6Enabled ? (
            <>
              <p>{en.sentence(en.ipv6Meaning)} The cloud chooses a prefix.</p>
              <p>
                A VM that announces itself as a router can lead the IPv6 packets of the others to
                itself, whatever the security groups are: put only VMs on it that trust each other.
              </p>
            </>
          ) : (
            <p>The network loses its prefix. If IPv6 is switched on again, it gets another one.</p>
          )}
          <CommandChoice
            skerry={`skerry network set ${shellQuoted(name)} --ipv6 ${isIpv6Enabled ? 'yes' : 'no'}`}
            curl={curlCommand('PUT', pathOf(href), body)}
          />
        </ConfirmDialog>
      )}
    </Card>
  )
}

/** Why IPv6 of the network cannot be switched now. If its addresses cannot be read, the cloud decides. */
function useReason(network: NetworkDocument): string | undefined {
  const { role } = useSession()
  const allocated = useDocument<AllocatedAddressesDocument>(linkOf(network, 'down', 'allocated'))
  if (linkOf(network, 'edit') === undefined) return en.missingRight(role, 'network:edit')
  if (allocated.isLoading) return 'the addresses are being read'
  const addresses = allocated.data?.ipAddress ?? []
  const hasVms = addresses.some(({ link = [] }) => link.some(({ rel }) => rel === 'down'))
  return whyNotIpv6(kindOfFence(network.configuration?.fenceMode), hasVms)
}
