import { useState } from 'react'

import type { ExternalNetworkDocument } from '../../api/edge-documents.ts'
import { Dialog, FormDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { CheckField, TextArea, TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import {
  isRange,
  NETWORK_NAME,
  routerOf,
  scopeOf,
  whyNotExternalScope,
  writtenScope,
} from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const EXTERNAL_NETWORKS = '/api/admin/extension/externalNetworks'
const VLAN_MAX = 4094

interface ExternalNetworkDialogProps {
  /** undefined: a new one. */
  readonly href: string | undefined
  readonly onClose: () => void
}

/** Reads the network that is changed, so that the form begins with what it is. */
export function ExternalNetworkDialog({ href, onClose }: ExternalNetworkDialogProps) {
  const { data, error, refetch } = useDocument<ExternalNetworkDocument>(href)
  if (error || (href !== undefined && !data))
    return (
      <Dialog title="Change external network" onClose={onClose}>
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <p role="status">The network is being read.</p>
        )}
      </Dialog>
    )
  return <Form network={href === undefined ? undefined : data} onClose={onClose} />
}

interface FormProps {
  readonly network: ExternalNetworkDocument | undefined
  readonly onClose: () => void
}

function Form({ network, onClose }: FormProps) {
  const [name, setName] = useState(network?.name ?? '')
  const [uplink, setUplink] = useState(network?.uplink ?? '')
  const [vlan, setVlan] = useState(network?.vlan === undefined ? '' : String(network.vlan))
  const [isDefault, setDefault] = useState(network?.isDefault ?? false)
  const [scope, setScope] = useState(writtenScope(network?.configuration?.ipScopes?.ipScope ?? {}))
  const { makeChange, isPending } = useChange()
  const wrong = whyNotExternalScope(scope)
  const isVlan = vlan === '' || (/^\d{1,4}$/.test(vlan) && Number(vlan) <= VLAN_MAX && vlan !== '0')
  const submit = (): void =>
    makeChange({
      href: network?.href ?? EXTERNAL_NETWORKS,
      method: network ? 'PUT' : 'POST',
      body: {
        name,
        configuration: { ipScopes: { ipScope: scopeOf(scope) }, fenceMode: 'isolated' },
        ...(!network && { uplink }),
        ...(!network && vlan !== '' && { vlan: Number(vlan) }),
        isDefault,
      },
      success: network ? `Changed ${name}` : `Created ${name}`,
      failure: network ? `${name} was not changed` : `${name} was not created`,
      onDone: onClose,
    })
  const reason = isPending
    ? 'the change is being sent'
    : !NETWORK_NAME.test(name)
      ? 'the network needs a name'
      : uplink === ''
        ? 'the network needs an uplink of the hosts'
        : isVlan
          ? wrong
          : `a VLAN is a number from 1 to ${VLAN_MAX}`
  return (
    <FormDialog
      title={network ? `Change ${network.name}` : 'Create external network'}
      onClose={onClose}
      onSubmit={submit}
      action={network ? 'Save changes' : 'Create'}
      unavailable={reason}
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      {!network && (
        <div className={page['pair']}>
          <TextField
            label="Uplink"
            placeholder="lan"
            hint="As hosts name it with --uplink."
            value={uplink}
            onChange={(event) => setUplink(event.target.value.trim())}
          />
          <TextField
            label="VLAN"
            inputMode="numeric"
            placeholder="none"
            value={vlan}
            onChange={(event) => setVlan(event.target.value.trim())}
          />
        </div>
      )}
      <div className={page['pair']}>
        <TextField
          label="Range"
          placeholder="203.0.113.0/24"
          value={scope.range}
          onChange={(event) => setScope({ ...scope, range: event.target.value.trim() })}
        />
        <TextField
          label="Router"
          placeholder={isRange(scope.range) ? routerOf(scope.range) : ''}
          value={scope.gateway}
          onChange={(event) => setScope({ ...scope, gateway: event.target.value.trim() })}
        />
      </div>
      <TextArea
        label="Pool"
        rows={2}
        placeholder="203.0.113.100-203.0.113.199"
        hint="Only these addresses are given to edge gateways and organisations. One range per line."
        value={scope.pool}
        error={scope.pool !== '' && wrong?.startsWith('the pool') ? en.sentence(wrong) : undefined}
        onChange={(event) => setScope({ ...scope, pool: event.target.value })}
      />
      <TextField
        label="Name servers"
        placeholder="9.9.9.9"
        value={scope.dns}
        onChange={(event) => setScope({ ...scope, dns: event.target.value })}
      />
      <CheckField label="New edge gateways lead to it" checked={isDefault} onChange={setDefault} />
    </FormDialog>
  )
}
