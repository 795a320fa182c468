import { useState } from 'react'

import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import { ConflictDialog } from '../../app/networks/conflict-dialog.tsx'
import { Button } from '../../components/button.tsx'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { Dialog, FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import {
  configureHref,
  servicesCurl,
  useServicesChange,
} from '../../data/networks/use-services-change.ts'
import { useSession } from '../../data/session.ts'
import { useDocument } from '../../data/use-documents.ts'
import {
  isPort,
  ownAddressOf,
  publishPort,
  takenAddressesOf,
  type PortToPublish,
} from '../../model/networks/edge-gateway.ts'
import { publishCommand } from '../../model/networks/network-commands.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

interface PublishDialogProps {
  readonly vmName: string
  /** The number of the card. */
  readonly card: number
  /** Its address. */
  readonly address: string
  /** The edge gateway of its network. */
  readonly gatewayHref: string
  readonly onClose: () => void
}

/** Forwards a port of the edge gateway to the VM and opens the firewall for it, in one change. */
export function PublishDialog({ vmName, card, address, gatewayHref, onClose }: PublishDialogProps) {
  const { data: gateway } = useDocument<EdgeGatewayDocument>(gatewayHref)
  const [port, setPort] = useState('443')
  const [internalPort, setInternalPort] = useState('')
  const [protocol, setProtocol] = useState<'tcp' | 'udp'>('tcp')
  const [chosen, setChosen] = useState('')
  const [published, setPublished] = useState<PortToPublish>()
  const { send, isPending, conflict, leave } = useServicesChange()
  const { role } = useSession()
  if (published) return <PublishedDialog published={published} vmName={vmName} onClose={onClose} />
  if (conflict) return <ConflictDialog conflict={conflict} onSend={send} onClose={leave} />
  const external = chosen || (gateway ? ownAddressOf(gateway) : '')
  const wanted: PortToPublish = {
    external,
    port: Number(port),
    internal: address,
    internalPort: Number(internalPort === '' ? port : internalPort),
    protocol,
    description: vmName,
  }
  const submit = (): void => {
    if (!gateway) return
    send(gateway, {
      change: publishPort(wanted),
      what: `Publishing port ${port} of ${vmName}`,
      onDone: () => setPublished(wanted),
    })
  }
  const arePorts = isPort(port) && (internalPort === '' || isPort(internalPort))
  const reason = !gateway
    ? 'the edge gateway is being read'
    : configureHref(gateway) === undefined
      ? en.missingRight(role, 'network:edit')
      : isPending
        ? 'the change is being sent'
        : arePorts
          ? undefined
          : 'ports must be from 1 to 65535'
  return (
    <FormDialog
      title={`Publish a port of ${vmName}`}
      onClose={onClose}
      onSubmit={submit}
      action="Publish"
      unavailable={reason}
    >
      <p>
        The edge gateway forwards the port to <span className={page['mono']}>{address}</span>, and
        its firewall lets it in. Everyone outside can connect.
      </p>
      <SelectField
        label="External address"
        value={external}
        options={(gateway ? [ownAddressOf(gateway), ...takenAddressesOf(gateway)] : []).map(
          (value) => ({ value, text: value }),
        )}
        onChange={setChosen}
      />
      <div className={page['pair']}>
        <TextField
          label="Port outside"
          inputMode="numeric"
          value={port}
          onChange={(event) => setPort(event.target.value.trim())}
        />
        <TextField
          label="Port of the VM"
          inputMode="numeric"
          placeholder={port}
          value={internalPort}
          onChange={(event) => setInternalPort(event.target.value.trim())}
        />
      </div>
      <SelectField
        label="Protocol"
        value={protocol}
        options={['tcp', 'udp'].map((value) => ({ value, text: value }))}
        onChange={(value) => setProtocol(value === 'udp' ? 'udp' : 'tcp')}
      />
      {gateway && arePorts && (
        <CommandChoice
          skerry={publishCommand(vmName, wanted, { card, own: ownAddressOf(gateway) })}
          curl={servicesCurl(gateway, publishPort(wanted))}
        />
      )}
    </FormDialog>
  )
}

interface PublishedDialogProps {
  readonly published: PortToPublish
  readonly vmName: string
  readonly onClose: () => void
}

/** The address that can be given to others. */
const PublishedDialog = ({ published, vmName, onClose }: PublishedDialogProps) => (
  <Dialog
    title={`Port ${published.internalPort} of ${vmName} is published`}
    onClose={onClose}
    footer={
      <Button tone="primary" onClick={onClose}>
        Done
      </Button>
    }
  >
    <p>It is reachable when the hosts have the change, in a few seconds:</p>
    <CommandLine prompt={published.protocol} text={`${published.external}:${published.port}`} />
  </Dialog>
)
