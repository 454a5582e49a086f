//! Adds a parcel with sqlx and a parcel with diesel to a table whose primary key is a UUID, and prints their IDs.
//! `DATABASE_URL=postgresql://… FLAKEID_STORE=postgresql://… flakeid-example-uuid-columns`

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diesel::Connection;
use flakeid::{Id, Layout};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS rust_parcels (id uuid PRIMARY KEY, part_of uuid)";

mod with_sqlx {
    use flakeid::{Id, IdAsUuid};

    pub async fn insert(database: &sqlx::PgPool, id: Id, part_of: Option<Id>) -> sqlx::Result<()> {
        sqlx::query("INSERT INTO rust_parcels VALUES ($1, $2)")
            .bind(IdAsUuid(id))
            .bind(part_of.map(IdAsUuid))
            .execute(database)
            .await?;
        Ok(())
    }

    pub async fn created_from(database: &sqlx::PgPool, bound: Id) -> sqlx::Result<Vec<Id>> {
        let parcels: Vec<(IdAsUuid, Option<IdAsUuid>)> =
            sqlx::query_as("SELECT id, part_of FROM rust_parcels WHERE id >= $1 ORDER BY id")
                .bind(IdAsUuid(bound))
                .fetch_all(database)
                .await?;
        Ok(parcels.into_iter().map(|(IdAsUuid(id), _part_of)| id).collect())
    }
}

mod with_diesel {
    use diesel::prelude::*;
    use flakeid::Id;

    diesel::table! {
        rust_parcels (id) {
            id -> Uuid,
            part_of -> Nullable<Uuid>,
        }
    }

    #[derive(Debug, PartialEq, Insertable, Queryable, Selectable)]
    #[diesel(table_name = rust_parcels)]
    pub struct Parcel {
        pub id: Id,
        pub part_of: Option<Id>,
    }

    pub fn insert(database: &mut PgConnection, parcel: &Parcel) -> QueryResult<Parcel> {
        diesel::insert_into(rust_parcels::table)
            .values(parcel)
            .returning(Parcel::as_returning())
            .get_result(database)
    }

    pub fn created_from(database: &mut PgConnection, bound: Id) -> QueryResult<Vec<Parcel>> {
        let parcels = rust_parcels::table.filter(rust_parcels::id.ge(bound));
        parcels.order(rust_parcels::id).select(Parcel::as_select()).load(database)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("DATABASE_URL")?;
    let layout = Layout::TWITTER;
    let ids =
        flakeid::lease(&std::env::var("FLAKEID_STORE")?, layout)?.namespace("orders").open()?;
    let (first, second) = (ids.next_id()?, ids.next_id()?);
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    let bound =
        layout.lower_bound(i64::try_from(hour_ago.duration_since(UNIX_EPOCH)?.as_millis())?);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let of_sqlx = runtime.block_on(async {
        let database = sqlx::PgPool::connect(&url).await?;
        sqlx::query(TABLE).execute(&database).await?;
        with_sqlx::insert(&database, first, None).await?;
        with_sqlx::created_from(&database, bound).await
    })?;

    let mut database = diesel::PgConnection::establish(&url)?;
    let parcel = with_diesel::Parcel { id: second, part_of: Some(first) };
    assert_eq!(with_diesel::insert(&mut database, &parcel)?, parcel);
    let parcels = with_diesel::created_from(&mut database, bound)?;
    let of_diesel: Vec<Id> = parcels.into_iter().map(|parcel| parcel.id).collect();
    println!("sqlx: {of_sqlx:?}");
    println!("diesel: {of_diesel:?}");
    Ok(())
}
