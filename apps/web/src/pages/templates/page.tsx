import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { TemplateRecord } from '../../api/query.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { Table } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { uploads } from '../../data/uploads.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { nameFilter } from '../../model/filter.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'
import { UploadDialog } from './upload-dialog.tsx'
import { UploadList } from './upload-list.tsx'
import { uploadHref, useCatalogs } from './use-catalogs.ts'

import page from '../../styles/page.module.css'

const schema = { q: textParam(), upload: textParam() }

export function TemplatesPage() {
  const [search, change] = useSearch(schema)
  const { data, error, refetch } = useRecords('vAppTemplate', {
    filter: nameFilter(search.q),
    sort: 'name',
  })
  const ownUploads = useStore(uploads)
  const { rights, role } = useSession()
  const navigate = useNavigate()
  const catalogs = useCatalogs()
  const canUpload = rights.has('vm:edit') || catalogs.some((each) => uploadHref(each) !== undefined)
  usePageTitle({ text: 'Templates', total: data?.total })
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="upload"
            unavailable={canUpload ? undefined : en.missingRight(role, 'vm:edit')}
            onClick={() => change({ upload: '1' })}
          >
            Upload template
          </Button>
        }
      >
        <FilterInput
          value={search.q}
          placeholder="Filter by name: debian*"
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      {ownUploads.length > 0 && <UploadList uploads={ownUploads} />}
      <Card flush>
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <Table
            label="Templates"
            rows={data?.records ?? []}
            keyOf={(template) => template.href}
            columns={columns((name) => void navigate(`${paths.newVm}?template=${name}`))}
            empty={
              <EmptyState
                title={search.q === '' ? 'No templates yet' : 'No template matches'}
                commands={
                  <CommandLine text="skerry template import debian-13.qcow2 --name debian" />
                }
              >
                <p>A template is a disk image from which VMs are created. Upload a qcow2 file:</p>
              </EmptyState>
            }
          />
        )}
      </Card>
      {catalogs.length > 0 && (
        <Card title="Catalogs">
          <ul className={page['names']}>
            {catalogs.map(({ href, name }) => (
              <li key={href}>
                <Link className={page['strong']} to={paths.catalog(idOf(href))}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {search.upload !== '' && canUpload && (
        <UploadDialog onClose={() => change({ upload: '' }, 'replace')} />
      )}
    </div>
  )
}

const columns = (onCreate: (template: string) => void) => [
  {
    key: 'name',
    title: 'Name',
    isEssential: true,
    cell: (template: TemplateRecord) => (
      <Link className={page['strong']} to={paths.template(idOf(template.href))}>
        {template.name}
      </Link>
    ),
  },
  {
    key: 'cpus',
    title: 'CPUs',
    isNumeric: true,
    cell: (template: TemplateRecord) => template.numberOfCpus,
  },
  {
    key: 'memory',
    title: 'Memory',
    isNumeric: true,
    cell: (template: TemplateRecord) => formatMiB(template.memoryMB),
  },
  {
    key: 'disk',
    title: 'Disk',
    isNumeric: true,
    cell: (template: TemplateRecord) => formatMiB(template.diskMB),
  },
  {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (template: TemplateRecord) => (
      <Button small icon="plus" onClick={() => onCreate(template.name)}>
        Create VM
      </Button>
    ),
  },
]
