import { useState } from 'react'

import { pathOf } from '../../api/client.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { curlCommand } from '../../model/commands.ts'
import { directNetworkCommand } from '../../model/networks/network-commands.ts'
import { NETWORK_NAME } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

interface DirectNetworkDialogProps {
  /** The names of the organisation and of its data centre. */
  readonly org: string
  readonly vdc: string
  /** Where networks are created. */
  readonly href: string
  readonly onClose: () => void
}

/** A network whose VMs are on an external network itself. The system's own, outbound, cannot be one. */
export function DirectNetworkDialog({ org, vdc, href, onClose }: DirectNetworkDialogProps) {
  const { data } = useRecords('externalNetwork', { sort: 'name' })
  const externals = (data?.records ?? []).filter(({ kind }) => kind === 'provider')
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState('')
  const [isShared, setShared] = useState(false)
  const { makeChange, isPending } = useChange()
  const external = externals.find((each) => each.href === chosen) ?? externals[0]
  const reason = isPending
    ? 'the network is being created'
    : !data
      ? 'the external networks are being read'
      : !external
        ? 'there is no external network yet; create one first'
        : NETWORK_NAME.test(name)
          ? undefined
          : 'the network needs a name'
  const body = {
    name,
    configuration: {
      parentNetwork: { name: external?.name, href: external?.href },
      fenceMode: 'bridged',
    },
    ...(isShared && { isShared }),
  }
  const submit = (): void =>
    makeChange({
      href,
      method: 'POST',
      body,
      success: `Creating network ${name} of ${org}`,
      failure: `Network ${name} was not created`,
      onDone: onClose,
    })
  return (
    <FormDialog
      title={`Create direct network of ${org}`}
      onClose={onClose}
      onSubmit={submit}
      action="Create"
      unavailable={reason}
    >
      <p>
        {en.networkMeaning.direct} The site gives them their addresses, and no edge gateway is
        before them.
      </p>
      <TextField
        label="Name"
        placeholder="plant"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="External network"
        value={external?.href ?? ''}
        options={externals.map((each) => ({ value: each.href, text: each.name }))}
        onChange={setChosen}
      />
      <CheckField
        label="VMs of all data centres of the organisation may be on it"
        checked={isShared}
        onChange={setShared}
      />
      {reason === undefined && external && (
        <CommandChoice
          // The command has no option for a network of all data centres.
          skerry={isShared ? undefined : directNetworkCommand(name, external.name, { org, vdc })}
          curl={curlCommand('POST', pathOf(href), body)}
        />
      )}
    </FormDialog>
  )
}
