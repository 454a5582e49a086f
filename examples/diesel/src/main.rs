//! Adds an order with an ID of flakeid as primary key, and prints the orders of the last hour.
//! `DATABASE_URL=orders.db FLAKEID_STORE=sqlite://flakeid.db flakeid-example-diesel tea`

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diesel::prelude::*;
use flakeid::{Id, Layout};
use serde::{Deserialize, Serialize};

diesel::table! {
    orders (id) {
        id -> BigInt,
        item -> Text,
        /// The order that this order replaces.
        instead_of -> Nullable<BigInt>,
    }
}

#[derive(Debug, PartialEq, Insertable, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = orders)]
struct Order {
    /// The ID, which is a string in JSON, because JavaScript rounds 64-bit numbers.
    id: Id,
    item: String,
    instead_of: Option<Id>,
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL, \
                     instead_of INTEGER)";

fn main() -> Result<(), Box<dyn Error>> {
    let mut database = SqliteConnection::establish(&std::env::var("DATABASE_URL")?)?;
    diesel::sql_query(TABLE).execute(&mut database)?;
    let layout = Layout::TWITTER;
    let ids = flakeid::lease(&std::env::var("FLAKEID_STORE")?, layout)?.open()?;

    let item = std::env::args().nth(1).ok_or("give the item that is ordered")?;
    let last =
        orders::table.select(orders::id.nullable()).order(orders::id.desc()).first(&mut database);
    let instead_of: Option<Id> = last.optional()?.flatten();
    let new = Order { id: ids.next_id()?, item, instead_of };
    let kept: Order = diesel::insert_into(orders::table)
        .values(&new)
        .returning(Order::as_returning())
        .get_result(&mut database)?;
    let same: Order = orders::table.find(kept.id).first(&mut database)?;
    println!("{}", serde_json::to_string(&same)?);

    // The index of the primary key selects the rows, so no column of times is needed.
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    let from = i64::try_from(hour_ago.duration_since(UNIX_EPOCH)?.as_millis())?;
    let recent: Vec<Order> =
        orders::table.filter(orders::id.ge(layout.lower_bound(from))).load(&mut database)?;
    println!("{} in the last hour", recent.len());
    Ok(())
}
