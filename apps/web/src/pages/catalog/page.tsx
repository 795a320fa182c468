import { useState } from 'react'
import { Link, useParams } from 'react-router'

import type { CatalogDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { SharingTab } from '../../app/sharing/sharing-tab.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Table } from '../../components/table.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { choiceParam } from '../../model/search-params.ts'
import { UploadDialog } from '../templates/upload-dialog.tsx'
import { uploadHref } from '../templates/use-catalogs.ts'

import page from '../../styles/page.module.css'

const schema = { tab: choiceParam(['templates', 'sharing'], 'templates') }
type Tab = (typeof schema.tab)['default']

/** A catalog: its templates, and with whom it is shared. */
export function CatalogPage() {
  const id = useParams()['catalog'] ?? ''
  const {
    data: catalog,
    error,
    refetch,
  } = useDocument<CatalogDocument>(`/api/catalog/${id}?unavailable=true`)
  const [{ tab }, change] = useSearch(schema)
  usePageTitle({ text: 'Templates', to: paths.templates }, { text: catalog?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!catalog) return <div className={page['page']} aria-busy="true" />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <Tabs
        label={`Parts of ${catalog.name}`}
        value={tab}
        onChange={(next: Tab) => change({ tab: next })}
        tabs={[
          {
            value: 'templates',
            text: 'Templates',
            count: catalog.catalogItems?.catalogItem?.length,
          },
          { value: 'sharing', text: 'Sharing' },
        ]}
      >
        {tab === 'templates' && <ItemsCard catalog={catalog} />}
        {tab === 'sharing' && (
          <SharingTab object={{ kind: 'catalog', name: catalog.name }} document={catalog} />
        )}
      </Tabs>
    </div>
  )
}

function ItemsCard({ catalog }: { readonly catalog: CatalogDocument }) {
  const [isUploading, setUploading] = useState(false)
  const canUpload = uploadHref(catalog) !== undefined
  return (
    <Card
      title="Templates"
      flush
      tools={
        <Button
          small
          icon="upload"
          unavailable={
            canUpload ? undefined : 'your role and your shares do not allow uploads here'
          }
          onClick={() => setUploading(true)}
        >
          Upload template
        </Button>
      }
    >
      <Table
        label="Templates"
        rows={catalog.catalogItems?.catalogItem ?? []}
        keyOf={({ href }) => href}
        empty="The catalog has no templates yet."
        columns={[
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: ({ name }) => (
              <Link
                className={page['strong']}
                to={`${paths.templates}?q=${encodeURIComponent(name)}`}
              >
                {name}
              </Link>
            ),
          },
        ]}
      />
      {isUploading && <UploadDialog into={catalog.href} onClose={() => setUploading(false)} />}
    </Card>
  )
}
