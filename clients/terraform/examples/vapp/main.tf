# A vApp of a web server and a database, which start and stop together.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "name" {
  default = "shop"
}

variable "template" {
  default = "debian"
}

# Another name is another web server: the one that is left out is deleted.
variable "web_servers" {
  type    = set(string)
  default = ["web-1"]
}

data "skerry_template" "base" {
  name = var.template
}

locals {
  servers  = { for name in var.web_servers : name => { template = data.skerry_template.base.id } }
  database = { db = { template = data.skerry_template.base.id, cpus = 2 } }
}

resource "skerry_vapp" "shop" {
  name       = var.name
  allow_stop = true
  vms        = merge(local.servers, local.database)
}
