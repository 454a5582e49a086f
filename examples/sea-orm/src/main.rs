//! Adds an order with an ID of flakeid as primary key, and prints the orders of the last hour.
//! `DATABASE_URL=postgresql://localhost/app flakeid-example-sea-orm tea`

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakeid::{Id, Layout};
use sea_orm::entity::prelude::*;
use sea_orm::{Database, IntoActiveModel};
use serde::{Deserialize, Serialize};

/// A primary key: a column `bigint`, but a string in JSON, because JavaScript rounds 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, DeriveValueType, Serialize, Deserialize)]
#[sea_orm(try_from_u64)]
#[serde(from = "Id", into = "Id")]
pub struct OrderId(i64);

impl From<Id> for OrderId {
    fn from(id: Id) -> Self {
        Self(id.to_i64())
    }
}

impl From<OrderId> for Id {
    fn from(id: OrderId) -> Self {
        Self::from_i64(id.0)
    }
}

mod orders {
    use super::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "orders")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: OrderId,
        pub item: String,
    }

    #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("DATABASE_URL")?;
    let database = Database::connect(&url).await?;
    let table = "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, item text NOT NULL)";
    database.execute_unprepared(table).await?;
    // Opening a lease waits for the store, so it must not block a thread of the runtime.
    let layout = Layout::TWITTER;
    let builder = flakeid::lease(&url, layout)?.namespace("orders");
    let ids = tokio::task::spawn_blocking(move || builder.open()).await??;

    let item = std::env::args().nth(1).ok_or("give the item that is ordered")?;
    let new = orders::Model { id: ids.next_id()?.into(), item };
    orders::Entity::insert(new.clone().into_active_model()).exec(&database).await?;
    let same = orders::Entity::find_by_id(new.id).one(&database).await?.ok_or("it is not there")?;
    println!("{}", serde_json::to_string(&same)?);

    // The index of the primary key selects the rows, so no column of times is needed.
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    let from = i64::try_from(hour_ago.duration_since(UNIX_EPOCH)?.as_millis())?;
    let from = OrderId::from(layout.lower_bound(from));
    let recent = orders::Entity::find().filter(orders::Column::Id.gte(from)).all(&database).await?;
    println!("{} in the last hour", recent.len());
    tokio::task::spawn_blocking(move || ids.close()).await?; // releases the node
    Ok(())
}
